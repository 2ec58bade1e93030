"""Hook scripts are read without being run, to see what they would answer."""

from __future__ import annotations

from .traits import Trait, Traits, traits_of

__all__ = ["Trait", "Traits", "traits_of"]
