from uploader.objects.elf cimport relocation_types
