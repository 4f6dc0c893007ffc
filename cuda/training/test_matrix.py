"""What holds of the matrix without a GPU, or PyTorch: python3 -m unittest discover -s cuda/training"""
import contextlib
import io
import json
import os
import tempfile
import unittest

import matrix
import rank_group
import summary
import train


def result(case, run, outcome="passed", **more):
    return {**case._asdict(), "run": run, "outcome": outcome, **more}


class MatrixTest(unittest.TestCase):
    def setUp(self):
        self.options = matrix.parser().parse_args([])
        self.cases = matrix.cases_of(self.options)

    def test_has_the_54_cases(self):
        self.assertEqual(len(set(self.cases)), 54)

    def test_gives_every_case_processes_of_its_own_unless_told_otherwise(self):
        self.assertEqual(len(matrix.jobs_of(self.cases, self.options, set())), 54 * 3)
        together = matrix.parser().parse_args(["--together"])
        jobs = matrix.jobs_of(self.cases, together, set())
        self.assertEqual([len(job) for job in jobs], [6] * 27)
        self.assertEqual({(case.model, case.queues, run) for job in jobs for case, run in job[:1]},
                         {(case.model, case.queues, run) for job in jobs for case, run in job})

    def test_says_what_went_wrong_and_not_where_in_pytorch(self):
        log = ["RuntimeError: CUDA error: an illegal address", "Exception raised from check at CUDAException.cpp",
               "frame #0: c10::Error::Error(c10::SourceLocation)", "frame #1: main"]
        self.assertEqual(rank_group.last_words(log), log[0])
        self.assertEqual(rank_group.last_words([*log, "HUNG at joining the world"]), "HUNG at joining the world")
        self.assertEqual(rank_group.last_words(["nothing"]), "")

    def test_leaves_out_what_is_known(self):
        done = {(self.cases[0], 0), (self.cases[5], 2)}
        left = {pair for job in matrix.jobs_of(self.cases, self.options, done) for pair in job}
        self.assertEqual(len(left), 54 * 3 - 2)
        self.assertFalse(left & done)

    def test_knows_results_of_the_same_options_only_and_survives_a_line_cut_off(self):
        variant = matrix.variant_of(self.options)
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
            for line in ({**result(self.cases[0], 0), "variant": variant},
                         {**result(self.cases[1], 0), "variant": {**variant, "batch": 64}}):
                print(json.dumps(line), file=file)
            print('{"model": "gp', file=file)
        known = matrix.known_results(file.name, variant)
        os.unlink(file.name)
        self.assertEqual([summary.key(r) for r in known], [tuple(self.cases[0])])

    def test_says_what_is_wrong_with_options(self):
        for words, expected in ((["--models", "resnet"], "'resnet' is none of resnet50"),
                                (["--queues", "1,x"], "no list of numbers"), (["--runs", "0"], "no number above 0")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
                matrix.parser().parse_args(words)
            self.assertIn(expected, said.getvalue())

    def test_cases_of_a_pair_are_a_mode_and_its_warm_up(self):
        self.assertEqual(train.parse_cases("each:0, bucket:3"), [("each", 0), ("bucket", 3)])


class SummaryTest(unittest.TestCase):
    cases = [matrix.Case("vit", mode, 0, queues) for mode in ("each", "bucket") for queues in (1, 32)]

    def test_lines_up(self):
        lines = summary.table([["name", "count"], ["a", "7"], ["longer", "1200"]])
        self.assertEqual(lines, ["name    count", "------  -----", "a           7", "longer   1200"])

    def test_says_how_often_each_passed_and_what_else_happened(self):
        results = [result(self.cases[0], run, msPerIteration=20.0 + run) for run in range(3)]
        results += [result(self.cases[1], 0), result(self.cases[1], 1, "hung"), result(self.cases[1], 2, "wrong")]
        lines = summary.summarize(results, self.cases, 3)
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[2], r"^vit +each +0 +3/3 +1/3 1 wrong 1 hung +21\.0$")
        self.assertRegex(lines[3], r"^vit +bucket +0 +0/3 +0/3 +-$")
        self.assertEqual(summary.totals(results, self.cases, 3),
                         {"summary": True, "cases": 4, "casesPassed": 1, "runs": 12, "passed": 4, "wrong": 1, "hung": 1})


if __name__ == "__main__":
    unittest.main()
