"""Programming languages as patterns: what is typical of a line, and what defines something.

Each pattern is matched where the text of a line begins, indentation left aside; ``definitions`` that hold
only without indentation begin with ``^``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from offloadkit.previews.patterns import any_of

__all__ = ["LANGUAGES", "Language"]


@dataclass(frozen=True, slots=True)
class Language:
    """How a language is recognised and outlined.

    Attributes:
        name: Its name, or the names of several that look alike.
        mark: Matches lines that are typical of it.
        definition: Matches lines that define something.
    """

    name: str
    mark: re.Pattern[str]
    definition: re.Pattern[str]


def _language(name: str, *, marks: tuple[str, ...], definitions: tuple[str, ...]) -> Language:
    return Language(name, _indented(marks), _indented(definitions))


def _indented(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return any_of(*(pattern if pattern.startswith("^") else rf"\s*{pattern}" for pattern in patterns))


_NO_KEYWORD: Final = (
    r"(?!(?:if|for|while|switch|catch|return|else|do|try|with|new|throw|await|typeof|case|sizeof)\b)"
)
_MODIFIER: Final = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|override|virtual|async|readonly|"
    r"partial|default|synchronized|native|extern|const|inline|unsafe|open|data|suspend|export|declare)\s+)"
)
_RUST_MODIFIER: Final = r"(?:(?:pub(?:\([\w:]+\))?|async|unsafe|const|extern)\s+)"
_ARROW: Final = r"(?:function\b|\([^()]*\)(?:\s*:[^=]+)?\s*=>|\w+\s*=>)"
_PARAMETERS: Final = r"(?:<[^()]*>)?\([^;]*\)(?:\s*:\s*[^;]+)?"

LANGUAGES: Final = (
    _language(
        "Python",
        marks=(
            r"(?:async )?def \w+.*[:(,]$",
            r"class \w+.*:$",
            r"from [\w.]+ import ",
            r"import [\w.]+(?: as \w+)?$",
            r"@\w[\w.]*",
            r"(?:el)?if .*:$",
            r"(?:else|try|finally):$",
            r"(?:for .* in|while|with|except) ?.*:$",
            r"(?:raise \w|return\b|assert |yield |pass$)",
            r"self\.\w+ ",
            r'"""',
            r"[\w.]+ = \w+\(.*\)$",
        ),
        definitions=(r"(?:async\s+)?def\s+\w+\s*[(\[]", r"class\s+\w+\s*[(:\[]"),
    ),
    _language(
        "JavaScript or TypeScript",
        marks=(
            r"(?:(?:export|default|async) )*(?:function|class|interface|enum|type) \w+",
            r"(?:const|let|var) [\w{\[]",
            r"import .* from ",
            r"export [{*]",
            r"return\b.*;$",
            r"(?:if \(.*\{$|\} else)",
            r"this\.\w+.*;$",
            r"await ",
            r".*=> ?\{$",
            r"\}\)?[;,]?$",
            r"/\*\*$",
        ),
        definitions=(
            rf"{_MODIFIER}*(?:function\*?\s+\w+|(?:class|interface|enum|namespace)\s+\w+|type\s+\w+[^=]*=)",
            rf"(?:export\s+)?(?:const|let|var)\s+\w+(?:\s*:[^=]+)?\s*=\s*(?:async\s*)?{_ARROW}",
            rf"^\s{{1,8}}{_MODIFIER}*(?:(?:get|set)\s+)?{_NO_KEYWORD}[#\w]+{_PARAMETERS}\s*\{{\s*$",
        ),
    ),
    _language(
        "Go",
        marks=(
            r"^(?:package \w+$|import \(|func [\w(]|type \w+ |var \w+ )",
            r"(?:if|for|switch) .*\{$",
            r"\w+(?:, \w+)* := ",
            r"return\b",
            r"(?:defer|go) \w",
            r"\}$",
        ),
        definitions=(r"^func\s+(?:\([^)]*\)\s*)?\w+", r"^type\s+\w+\s+\w"),
    ),
    _language(
        "Rust",
        marks=(
            r"use [\w:]+",
            r"(?:pub(?:\(\w+\))? )?(?:async )?(?:fn|struct|enum|impl|trait|mod) ?[\w<]",
            r"let (?:mut )?\w",
            r"#!?\[",
            r"match .*\{$",
            r"\}$",
            r"///",
        ),
        definitions=(rf"{_RUST_MODIFIER}*(?:fn|struct|enum|trait|impl|mod|union|macro_rules!)\b[\s<]*\w",),
    ),
    _language(
        "Java, C# or Kotlin",
        marks=(
            rf"{_MODIFIER}+\w",
            r"import [\w.]+;?$",
            r"using [\w.]+;$",
            r"package [\w.]+;?$",
            r"@\w+",
            r"return\b.*;$",
            r".*\) ?\{$",
            r"\}$",
            r"(?:fun|val|var) \w+",
        ),
        definitions=(
            rf"{_MODIFIER}*(?:class|interface|enum|record|struct|object|trait)\s+\w+",
            rf"{_MODIFIER}+(?:<[^>]*>\s*)?[\w<>\[\],.?]+\s+\w+\s*\([^;]*$",
            rf"{_MODIFIER}*fun\s+(?:<[^>]*>\s*)?[\w.]+\s*\(",
        ),
    ),
    _language(
        "C or C++",
        marks=(
            r"#\s*(?:include|define|ifdef|ifndef|endif|pragma)\b",
            r"(?:static|const|struct|void|int|char|bool|unsigned|auto|template|namespace|typedef)\b.*",
            r"[A-Z_]{2,}\(.*\);?$",
            r"[{}]$",
            r"return\b.*;$",
            r".*->\w+.*;$",
            r".*\w::\w.*;$",
        ),
        definitions=(
            r"^(?:class|struct|union|enum(?:\s+class)?|namespace)\s+\w+[^;]*$",
            r"^#\s*define\s+\w+",
            rf"^{_NO_KEYWORD}[A-Za-z_][\w\s*&:<>,~]*\b[\w~:]+\s*\([^;{{}}]*\)?\s*(?:const\s*)?\{{?\s*$",
        ),
    ),
    _language(
        "Ruby",
        marks=(
            r"(?:def|module|class) \w+",
            r"end$",
            r"require(?:_relative)? ['\"]",
            r".* do \|.*\|$",
            r"attr_\w+ :",
            r"(?:elsif|unless) ",
        ),
        definitions=(r"def\s+[\w.?!=]+", r"(?:class|module)\s+\w+"),
    ),
    _language(
        "PHP",
        marks=(
            r"<\?php",
            r"\$\w+(?:->|\s*=)",
            r"(?:(?:public|private|protected|static|final) )+function",
            r"(?:use|namespace) [\w\\]+;",
            r"return\b.*;$",
            r"\}$",
        ),
        definitions=(rf"{_MODIFIER}*(?:function|class|interface|trait)\s+\w+",),
    ),
    _language(
        "Shell",
        marks=(
            r"#!.*sh\b",
            r"(?:if|while) (?:\[|!|test ).*",
            r"(?:fi|done|esac|then|do|else)$",
            r"(?:echo|printf) ",
            r"(?:export|local|readonly) \w+=",
            r"\w+\(\) ?\{",
            r"for \w+ in ",
            r"set -[eux]",
            r"case .* in$",
        ),
        definitions=(r"function\s+[\w-]+", r"[\w-]+\s*\(\)\s*\{?"),
    ),
)
