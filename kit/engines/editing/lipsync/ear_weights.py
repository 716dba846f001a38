"""What the ear has learned: how much each trait of a sound speaks for a voice.

Fitted once to fourteen minutes of speech (recorded and synthesized, more than 20 languages, some
whispered or sung), twelve of music and eight of noises and drums, many of them again in rooms,
through filters and over one another. Half of the recordings, left out in turn, were told right in
about 95 to 99 of 100 moments; chords and tunes made by rule in 90, for a single instrument that
plays a tune is much like a voice that sings.
"""

from __future__ import annotations

import numpy as np

#: From 13 traits, in the order of `kit.engines.editing.lipsync.ear.traits`, to 6 mixtures of them.
HIDDEN = np.array(
    [
        [
            -0.847,
            3.15,
            -2.8,
            -0.359,
            -6.11,
            1.71,
            -0.571,
            0.365,
            0.00844,
            0.0874,
            0.864,
            1.55,
            -1.66,
        ],
        [
            0.691,
            0.525,
            0.246,
            0.115,
            10.7,
            1.1,
            0.48,
            -0.582,
            -0.0239,
            0.0149,
            -1.61,
            0.847,
            -0.218,
        ],
        [
            0.997,
            -2.88,
            -2.39,
            0.367,
            -10.3,
            5.45,
            -0.468,
            -0.459,
            -0.0234,
            -0.0107,
            1.05,
            -0.0999,
            1.08,
        ],
        [
            1.74,
            1.79,
            -0.587,
            1.93,
            2.79,
            -0.17,
            -0.66,
            -0.295,
            -0.00874,
            -0.031,
            -0.189,
            0.831,
            -3.16,
        ],
        [1.43, 1.09, 1.36, 0.607, -3.85, 3.41, -0.211, 0.297, -0.0408, -0.103, -4.1, -2.25, 0.609],
        [
            0.337,
            2.22,
            1.58,
            -0.28,
            -1.16,
            -0.203,
            -0.443,
            -0.67,
            0.00789,
            -0.0441,
            -1.17,
            2.51,
            1.17,
        ],
    ],
    np.float32,
)
HIDDEN_BIAS = np.array([0.0679, 3.76, -11.5, -1.64, 5.18, -6.76], np.float32)
#: From those to the logarithm of the odds that it is a voice.
OUT = np.array([3.14, 4.6, 2.05, -2.39, -4.27, -3.87], np.float32)
OUT_BIAS = -3.15
