"""Pictures and videos that are edited: repaired, restyled, reframed, titled, joined, spoken."""
