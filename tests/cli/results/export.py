#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Other programs read what `barecpc export` writes for them, and find the values of the records.

With BARECPC_CAMPAIGN=yes scripts/setup installs the programs.  The test skips a program that is absent.
"""
import csv
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import readers
from made_records import quantity, record
from readers import BARECPC, ROOT
from tap import check, end, equal, skip

COMPARE = os.environ.get("GOOGLE_COMPARE", "/usr/share/benchmark/compare.py")
BIG = (1 << 62) + 1


def run(*words):
    return readers.run(folder, *words)


def export(form, records, *options):
    """The text that --to FORMAT writes for these records, and the finished process."""
    (folder / "A.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    done = run(sys.executable, BARECPC, "export", "--to", form, "A.jsonl", *options)
    return done.stdout, done


NASTY = "a<b>&\"'|#\\ ]]>"
PROFILE = {"schema": 1, "payload": "record", "folded": [["main;work", 30], ["main;<b>", 12]]}
ROWS = [record("triad/8", [110, 111, 119, 110, 110], overhead=[10] * 5, hrtime_ns=quantity([500, 520, 510, 505, 515], [100] * 5)),
        record("triad/16", [210] * 5, overhead=[10] * 5, hrtime_ns=quantity([900] * 5)),
        record("chase", None, hrtime_ns=quantity([70] * 5)), record("chase", [BIG], "PAPI_tot_cyc"),
        record(NASTY, [1], hrtime_ns=quantity([3])), record(NASTY, [2], verified=False)]


def json_formats():
    text, done = export("github-action-benchmark", ROWS)
    made = json.loads(text)
    equal("github-action-benchmark: each counted row", [(m["name"], m["value"]) for m in made],
          [("triad/8 PAPI_tot_ins:u", 100), ("triad/16 PAPI_tot_ins:u", 200), ("chase PAPI_tot_cyc:u", BIG),
           (f"{NASTY} PAPI_tot_ins:u", 1), (f"{NASTY} PAPI_tot_ins:u (2)", 2)])
    # extractCustomBenchmarkResult() of that action reads these members; findAlerts() and its page need names and numbers.
    check("its members have the types of a BenchmarkResult", [m for m in made if type(m["value"]) is not int or not all(
        isinstance(m[key], str) for key in ("name", "unit", "range", "extra"))])
    equal("half the range of the runs", made[0]["range"], "± 4.5")
    equal("rows without a count are reported", done.stderr, "host: A.jsonl: 1 rows have no value for --to github-action-benchmark: they are left out\n")
    made = json.loads(export("bencher", ROWS)[0])
    equal("bencher: a measure with its limits", made["triad/8"], {"PAPI_tot_ins:u": {"value": 100, "lower_value": 100, "upper_value": 109}})
    equal("a benchmark for each label", list(made), ["triad/8", "triad/16", "chase", NASTY, f"{NASTY} (2)"])
    check("as the schema bmf.json has it", [name for name, measures in made.items() for metric in measures.values()
                                            if set(metric) != {"value", "lower_value", "upper_value"} or not all(type(v) is int for v in metric.values())])


def google_benchmark():
    blank = json.loads(export("google-benchmark", [record("two words", [7], hrtime_ns=quantity([3]))])[0])["benchmarks"]
    equal("Google Benchmark: a name without a blank", [b["name"] for b in blank], ["two_words/PAPI_tot_ins:u"])
    text, _ = export("google-benchmark", ROWS)
    made = json.loads(text)["benchmarks"]
    first = [b for b in made if b["name"] == "triad/8/PAPI_tot_ins:u"]
    equal("Google Benchmark: a repetition for each run, per iteration and less the overhead",
          [(b["repetition_index"], b["real_time"], b["PAPI_tot_ins:u"]) for b in first],
          [(0, 40, 10), (1, 42, 10.1), (2, 41, 10.9), (3, 40.5, 10), (4, 41.5, 10)])
    check("a row without a count has its time", [] if [b["real_time"] for b in made if b["name"].startswith("chase/")] == [7] * 5 else [text])
    if not pathlib.Path(COMPARE).exists() or not readers.run_python(folder, "import scipy"):
        skip("compare.py reads it", "no libbenchmark-tools or python3-scipy: scripts/setup --campaign")
        return
    (folder / "before.json").write_text(text)
    slower = [r | {"hrtime_ns": quantity([2 * v for v in r["hrtime_ns"]["measured"]["raw"]])} if r["hrtime_ns"] else r for r in ROWS]
    (folder / "after.json").write_text(export("google-benchmark", slower)[0])
    done = run(readers.PYTHON, COMPARE, "--no-color", "benchmarks", "before.json", "after.json")
    check("compare.py reads it: twice the time", [] if done.returncode == 0 and re.search(
        r"^triad/16/PAPI_tot_ins:u +\+1\.0000 +\+1\.0000 +90 +180 +90 +180$", done.stdout, re.M) else (done.stdout + done.stderr).splitlines())


def fits_schema(file):
    """Both schemas of Jenkins' xUnit plugin: the later one allows three digits of a second for a suite."""
    point = "JUnit: it fits the schemas of Jenkins"
    if not readers.CAMPAIGN:
        skip(point, "no schemas here, which make check-all fetches")
        return
    done = run(ROOT / "scripts" / "setup", "--junit")
    if done.returncode == 77 or not shutil.which("xmllint"):
        skip(point, (done.stderr or "no xmllint").strip().rpartition("\n")[2])
        return
    schemas = sorted(pathlib.Path(done.stdout.strip()).glob("**/junit-10.xsd")) if done.returncode == 0 else []
    if not schemas:
        check(point, [f"scripts/setup --junit: status {done.returncode}", *done.stderr.splitlines()[-3:]])
        return
    wrong = [line for schema in schemas for line in run("xmllint", "--noout", "--schema", schema, file).stderr.splitlines()
             if not line.endswith(" validates")]
    check(point, wrong)


def test_reports():
    text, _ = export("junit", ROWS)
    (folder / "junit.xml").write_text(text)
    shown = ("import junitparser as j\nfor s in j.JUnitXml.fromfile('junit.xml'):\n"
             " print(s.name, s.tests, s.failures, s.skipped, *[type(c.result[0]).__name__ if c.result else 'passed' for c in s])")
    done = readers.run_python(folder, shown)
    if done is None:
        skip("JUnit: junitparser reads it", "no python3-junitparser: scripts/setup --campaign")
    else:
        equal("JUnit: junitparser reads it", done.stdout + done.stderr, "triad 2 0 0 passed passed\nchase 2 0 1 Skipped passed\n"
              f"{NASTY.split('/')[0]} 2 1 0 passed Failure\n")
    if shutil.which("xmllint"):
        done = run("xmllint", "--xpath", "//testcase[5]/@name | //testcase[@classname='chase'][1]/skipped/@message", "junit.xml")
        check("JUnit: it is XML", [] if done.returncode == 0 and "no PIC can count it" in done.stdout else [done.stdout + done.stderr])
    else:
        skip("JUnit: it is XML", "no xmllint")
    fits_schema("junit.xml")
    text, _ = export("tap", ROWS)
    (folder / "tap.txt").write_text(text)
    done = run("prove", "--exec", "cat", "tap.txt")
    check("TAP: prove reads it: six tests, one failed", [] if "Tests: 6 Failed: 1" in done.stdout and "Failed test:  6" in done.stdout
          and "Parse errors" not in done.stdout else done.stdout.splitlines())
    (folder / "tap.txt").write_text(export("tap", ROWS[:5])[0])
    done = run("prove", "--exec", "cat", "tap.txt")
    check("TAP: what is not counted is skipped", [] if "Result: PASS" in done.stdout else done.stdout.splitlines())
    (folder / "rows.csv").write_text(export("csv", ROWS)[0])
    with open(folder / "rows.csv", newline="") as file:
        made = list(csv.DictReader(file))
    equal("CSV: all rows, raw values included", [(r["label"], r["count_net"], r["count_raw"], r["count_overhead_raw"]) for r in made[:4]],
          [("triad/8", "100", "110 111 119 110 110", "10 10 10 10 10"), ("triad/16", "200", "210 210 210 210 210", "10 10 10 10 10"),
           ("chase", "", "", ""), ("chase", str(BIG), str(BIG), "")])
    equal("CSV: a name as it is", made[4]["label"], NASTY)


class Page(html.parser.HTMLParser):
    """The elements of a page, with those that are open; wrong nesting and references to other files."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.count, self.cells = [], [], {}, []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        kind = f"{tag}.{names['class']}" if "class" in names else tag
        self.count[kind] = self.count.get(kind, 0) + 1
        self.wrong += [f"{tag} {key}" for key in names if key in ("src", "href", "srcset", "data") or key.startswith("on")]
        if tag in ("script", "link", "iframe", "img", "object", "b"):
            self.wrong.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def html_page():
    text, _ = export("html", [*ROWS, PROFILE])
    page = Page(text)
    check("HTML: elements are closed, and nothing else is loaded", page.wrong + re.findall(r"url\(|@import", text))
    equal("HTML: a plot over the parameters of triad, and the runs of each counted row", (page.count.get("svg.plot"), page.count.get("svg.runs")), (1, 5))
    check("HTML: the table has the counts", [] if {"100", str(BIG), "<not supported>", NASTY} <= set(page.cells) else page.cells)
    # count, per iteration, min, max of triad/8: 100, 10.000, 100, 109
    at = page.cells.index("triad/8")
    equal("HTML: a count is within the minimum and maximum of its runs", page.cells[at + 2:at + 6], ["100", "10.000", "100", "109"])
    equal("HTML: the row that is not verified says so", (text.count("</svg></td><td></td></tr>"), text.count("</svg></td><td>not verified</td></tr>")), (4, 1))
    check("HTML: both axes have names and units", [words for words in ("PAPI_tot_ins:u, events per iteration</text>", "(logarithmic)</text>") if words not in text])
    check("HTML: narrow windows and the dark style", [words for words in ('name="viewport"', "overflow-x: auto", "overflow-wrap: anywhere",
                                                                          "max-width: 100%", 'viewBox="0 0 640 240"',
                                                                          "color-scheme: light dark", "prefers-color-scheme: dark") if words not in text])
    long = export("html", [record(f"n/{n}", [-n], "OFFCORE_RESPONSE_0:" + "L3_HIT_" * 20 + ":u") for n in (1, 10 ** 17)])[0]
    spots = [(float(x), 6 * len(text) / 2) for x, text in re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">([^<]*)<', long)]
    equal("HTML: no text of a plot runs off its picture", (len(spots), [spot for spot in spots if not spot[1] <= spot[0] <= 640 - spot[1]],
                                                          re.findall(r"\(-90 [^<]*<", long)), (5, [], ['(-90 18 120.0)">events per iteration<']))
    many = export("html", [record("n/1", list(range(20000)))])[0]
    check("HTML: many raw values are one dot for each pixel", [] if many.count("<circle") <= 240 and "0 to " in many else [str(many.count("<circle"))])
    check("HTML: the flame graph", [] if "work (30 samples, 71.43%)" in text else ["it is missing"])
    check("HTML: a profile alone is a page", [] if "work (30 samples" in export("html", [PROFILE])[0] else ["it is missing"])
    if not shutil.which("chromium"):
        skip("HTML: a browser shows it", "no chromium: scripts/setup --campaign")
        return
    (folder / "page.html").write_text(text)
    done = run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", (folder / "page.html").as_uri())
    check("HTML: a browser shows it", [] if done.stdout.count("<svg class=\"runs\"") == 5 and "work (30 samples" in done.stdout
          else (done.stdout + done.stderr).splitlines()[:5])


def failures():
    kept = folder / "kept"
    kept.write_text("before")
    (folder / "A.jsonl").write_text('{"schema":1,"lab')
    done = run(sys.executable, BARECPC, "export", "--to", "csv", "-o", "kept", "A.jsonl")
    equal("a torn file: one line, and the old file is kept", (done.returncode, done.stderr.count("\n"), kept.read_text()), (125, 1, "before"))
    _, done = export("bencher", [ROWS[2]], "-o", "kept")
    equal("nothing to write: one line, and the old file is kept", (done.returncode, done.stderr, kept.read_text()), (
        125, "host: A.jsonl: no row has what --to bencher shows: nothing is written\n", "before"))
    _, done = export("csv", ROWS, "-o", "new/rows.csv")
    check("-o makes the folder and the file", [] if (folder / "new" / "rows.csv").read_text().startswith("payload,") else [done.stderr])
    _, done = export("csv", ROWS, "-o", "A.jsonl/rows.csv")
    check("a file that cannot be written", [] if done.returncode == 125 and done.stderr.count("\n") == 1 else [done.stderr])
    _, done = export("yaml", ROWS)
    check("an unknown format", [] if done.returncode == 125 and "invalid choice: 'yaml'" in done.stderr else [done.stderr])


if readers.CAMPAIGN:
    subprocess.run([ROOT / "scripts" / "setup", "--campaign"], check=False, stdout=sys.stderr)
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for part in (json_formats, google_benchmark, test_reports, html_page, failures):
        part()
end()
