"""``symup completion``: the lines by which a shell completes symup's command line; symup itself answers what they ask."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from uploader.cli import terminal
from uploader.cli.commands import COMPLETION_VARIABLE

_BASH = f"""\
_symup_completion() {{
  local IFS=$'\\n'
  COMPREPLY=($(env COMP_WORDS="${{COMP_WORDS[*]}}" COMP_CWORD="$COMP_CWORD" {COMPLETION_VARIABLE}=complete_bash "$1" 2>/dev/null))
}}
complete -o default -F _symup_completion symup
"""

_ZSH = f"""\
#compdef symup
_symup_completion() {{
  eval "$(env _TYPER_COMPLETE_ARGS="${{words[1,$CURRENT]}}" {COMPLETION_VARIABLE}=complete_zsh symup 2>/dev/null)"
}}
compdef _symup_completion symup
"""

_ASKED = f"env {COMPLETION_VARIABLE}=complete_fish _TYPER_COMPLETE_FISH_ACTION=%s _TYPER_COMPLETE_ARGS=(commandline -cp) symup"
_FISH = (
    f'complete --command symup --no-files --arguments "({_ASKED % "get-args"})" --condition "{_ASKED % "is-args"}"\n'
)


class Shell(enum.StrEnum):
    """The shells that there are lines for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_LINES = {Shell.BASH: _BASH, Shell.ZSH: _ZSH, Shell.FISH: _FISH}


def command(shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.", metavar="SHELL")]) -> int:
    """Print the lines by which a shell completes symup's commands, options and their values.

    For bash, a line of ~/.bashrc: eval "$(symup completion bash)"

    For zsh, behind compinit in ~/.zshrc: eval "$(symup completion zsh)"

    For fish, once: symup completion fish > ~/.config/fish/completions/symup.fish
    """
    terminal.result(_LINES[shell].rstrip("\n"))
    return 0
