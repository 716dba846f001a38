"""Styles of titles as data; nothing heavy is imported here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleStyle:
    """How a title looks. Lengths are in ems of the headline where nothing else is said.

    Parameters
    ----------
    width, height : float
        The headline's space, as a share of the width between the margins and of the height.
    accent : tuple of int
        Color of the stressed word, rule, kicker or glow.
    rule, rule_length : float
        Thickness, and length as a share of the width between the margins; 0 draws none.
    kicker : bool
        The subtitle stands above the headline and in the accent color.
    tracked : bool
        The subtitle is set in spaced capitals.
    glow : bool
        The letters are lit and shine on what is around them in the accent color.
    night : float
        How far the whole picture is taken into the night, 0 to 1, so that a glow can shine.
    bright : float
        Luminance behind the text, 0 to 1, from which on the letters are dark.
    scrim : float
        Least darkening behind the text, 0 to 1; more where contrast asks for it.
    """

    face: str
    small_face: str = "inter"
    accent: tuple[int, int, int]
    capitals: bool = False
    align: str = "center"
    width: float = 1.0
    height: float = 0.42
    gap: float = 0.2
    tracking: float = 0.0
    stroke: float = 0.0
    shadow: float = 0.0
    glow: bool = False
    night: float = 0.0
    bright: float = 0.42
    picks_word: bool = False
    rule: float = 0.0
    rule_length: float = 0.0
    kicker: bool = False
    tracked: bool = False
    scrim: float = 0.25

    @property
    def small_tracking(self) -> float:
        """How far the letters of the subtitle stand apart, in ems of its own."""
        return 0.14 if self.tracked else 0.0


#: Name -> style, in the order in which a form shows them.
STYLES = {
    "bold": TitleStyle(
        face="anton",
        small_face="inter-bold",
        accent=(255, 209, 26),
        capitals=True,
        stroke=0.035,
        shadow=0.09,
        picks_word=True,
        bright=0.48,
    ),
    "elegant": TitleStyle(
        face="playfair",
        accent=(240, 212, 160),
        width=0.92,
        height=0.36,
        gap=0.16,
        shadow=0.1,
        rule=0.018,
        rule_length=0.16,
        tracked=True,
        scrim=0.2,
    ),
    "clean": TitleStyle(
        face="inter-bold",
        accent=(90, 200, 250),
        align="left",
        width=0.9,
        height=0.36,
        gap=0.18,
        tracking=-0.02,
        shadow=0.06,
        rule=0.1,
        rule_length=0.12,
        scrim=0.3,
    ),
    "neon": TitleStyle(
        face="neon",
        accent=(255, 64, 190),
        height=0.4,
        gap=0.24,
        shadow=0.0,
        glow=True,
        night=0.72,
        scrim=0.3,
    ),
    "editorial": TitleStyle(
        face="playfair",
        accent=(255, 196, 120),
        align="left",
        width=0.94,
        height=0.44,
        gap=0.1,
        tracking=-0.01,
        shadow=0.07,
        rule=0.012,
        rule_length=1.0,
        kicker=True,
        tracked=True,
        scrim=0.3,
    ),
}
