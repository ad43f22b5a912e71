# Those numbers of relocation_types.py that loops of the core ask for, as constants of C: tests/core/test_constants.py holds that both agree.
cdef enum:
    STORE = 0x00
    ADD = 0x10
    SUB = 0x20
    STORE_LEB = 0x30
    SUB_LEB = 0x40
    STORE_6 = 0x50
    ADD_6 = 0x60
    SUB_6 = 0x70
    NOTHING = 0x80
    WIDTH_BITS = 0x0F
    ACTION_BITS = 0xF0
    UNKNOWN = 0xFF
    MOST_TYPES = 2048
