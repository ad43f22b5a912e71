"""A client process: uploads generated artifacts to DEST, several files and chunks at once, and prints one line for each.

``python -m tests.destinations.uploading_client DEST COUNT FUNCTIONS CHUNK_SIZE_BYTES``
"""

import functools
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.writers.artifact_writer import Artifact, make_artifact
from uploader.destinations.open import open_destination
from uploader.destinations.send import send
from uploader.protocol.words import Holding

FILES_AT_ONCE = 2
CHUNKS_AT_ONCE = 4


@functools.cache
def artifacts(count: int, functions: int, max_chunk_size_bytes: int) -> list[Artifact]:
    return [
        make_artifact(f"{number:04x}", functions=functions, max_chunk_size_bytes=max_chunk_size_bytes)
        for number in range(count)
    ]


def main(dest: str, count: int, functions: int, max_chunk_size_bytes: int) -> None:
    destination = open_destination(dest, project="web", env=os.environ)
    wanted = artifacts(count, functions, max_chunk_size_bytes)
    answers = destination.negotiate([artifact.question for artifact in wanted])
    lacking = [one for one, answer in zip(wanted, answers, strict=True) if answer.holding is not Holding.PRESENT]
    with ThreadPoolExecutor(FILES_AT_ONCE) as files, ThreadPoolExecutor(CHUNKS_AT_ONCE) as chunks:
        for one in files.map(lambda one: send(destination, one.file, one.manifest, executor=chunks), lacking):
            sys.stdout.write(f"{one.committed.stored} {one.chunks_sent}\n")
            sys.stdout.flush()
    destination.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
