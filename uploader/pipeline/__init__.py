"""The street, stage by stage: discover, identify, ask, extract, merge, encode, send. Nothing here prints."""
