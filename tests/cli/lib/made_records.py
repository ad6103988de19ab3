"""Records with known values, for the tests of compare and export."""

VIRTUAL = {"clock": "virtual", "icount_shift": "0", "accel": "tcg"}


def series(raw):
    return {"raw": raw, "min": min(raw), "median": sorted(raw)[(len(raw) - 1) // 2], "max": max(raw)}


def quantity(raw, overhead=None):
    measured, less = series(raw), series(overhead) if overhead else None
    return {"net": measured["median"] - (less["median"] if less else 0), "measured": measured, "overhead": less}


def record(label, raw, event="PAPI_tot_ins", overhead=None, host=None, **members):
    """A measurement with these raw values; None: not supported."""
    count = quantity(raw, overhead) if raw else None
    made = {"schema": 1, "payload": label.split("/")[0], "arguments": [], "label": label, "event": event, "privilege": "user",
            "status": "counted" if raw else "not supported", "runs": len(raw or [1]), "iterations": 10,
            "overhead_method": "no turns" if overhead else "none", "count": count, "tick": None, "hrtime_ns": None,
            "conditions": {"measured": {"disturbed": [], "excluded": 0}, "overhead": None}, "verified": True,
            "machine": {"cpu": "first", "pics": [{"pic": 0, "width": 48}], "host": host or VIRTUAL}}
    if not raw:
        made["reason"] = "no PIC can count it"
    return made | members
