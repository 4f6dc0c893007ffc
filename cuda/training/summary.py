"""Results of many runs as a table whose columns line up."""
OUTCOMES = ("passed", "wrong", "hung", "failed", "timeout", "unfinished")


def table(rows):
    """Lines of text. The first row is the head; a column whose other cells all begin with a digit stands right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    is_number = [all(row[column][:1].isdigit() for row in rows[1:]) for column in range(len(widths))]

    def line(cells):
        return "  ".join(cell.rjust(width) if right else cell.ljust(width)
                         for cell, width, right in zip(cells, widths, is_number)).rstrip()

    return [line(rows[0]), "  ".join("-" * width for width in widths), *(line(row) for row in rows[1:])]


def cell(results, wanted):
    """What became of one case's runs: "3/3", or "1/3 2 hung"."""
    counts = {outcome: sum(result["outcome"] == outcome for result in results) for outcome in OUTCOMES}
    bad = [f"{count} {outcome}" for outcome, count in counts.items() if count and outcome != "passed"]
    return " ".join([f"{counts['passed']}/{wanted}", *bad])


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else None


def summarize(results, cases, runs):
    """A line a model, mode and warm-up, a column a number of hardware queues. @param cases tuples as in matrix.Case"""
    queues = sorted({case.queues for case in cases})
    rows = [["model", "mode", "warm-up", *(f"{count} queue{'s' if count != 1 else ''}" for count in queues), "ms/it"]]
    kinds = list(dict.fromkeys((case.model, case.mode, case.warm) for case in cases))
    for kind in kinds:
        of_kind = [r for r in results if (r["model"], r["mode"], r["warm"]) == kind]
        cells = [cell([r for r in of_kind if r["queues"] == count], runs) for count in queues]
        time = median([r["msPerIteration"] for r in of_kind if r.get("msPerIteration")])
        rows.append([*kind, *cells, "-" if time is None else f"{time:.1f}"])
    return table(rows)


def totals(results, cases, runs):
    """One object: how many runs there were, and what became of them."""
    counts = {outcome: sum(r["outcome"] == outcome for r in results) for outcome in OUTCOMES}
    good = sum(all_passed([r for r in results if key(r) == case], runs) for case in cases)
    return {"summary": True, "cases": len(cases), "casesPassed": good, "runs": len(cases) * runs,
            **{outcome: count for outcome, count in counts.items() if count or outcome in ("passed", "hung", "wrong")}}


def key(result):
    return (result["model"], result["mode"], result["warm"], result["queues"])


def all_passed(results, runs):
    return sum(r["outcome"] == "passed" for r in results) >= runs and all(r["outcome"] == "passed" for r in results)
