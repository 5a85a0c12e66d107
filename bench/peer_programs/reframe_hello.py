"""The hello-world payload as ReFrame tests. Read by ReFrame, in its own environment."""

import os
import shlex

import reframe as rfm  # type: ignore[import-not-found]
import reframe.utility.sanity as sn  # type: ignore[import-not-found]


@rfm.simple_test
class Hello(rfm.RunOnlyRegressionTest):  # type: ignore[misc]
    number = parameter(range(int(os.environ["BENCH_COUNT"])))  # type: ignore[name-defined] # noqa: F821
    valid_systems = ["*"]  # noqa: RUF012
    valid_prog_environs = ["*"]  # noqa: RUF012
    executable = shlex.split(os.environ["BENCH_PAYLOAD"])[0]
    executable_opts = [  # noqa: RUF012
        shlex.quote(word) for word in shlex.split(os.environ["BENCH_PAYLOAD"])[1:]
    ]
    exclusive_access = True
    time_limit = "5m"

    @sanity_function  # type: ignore[name-defined] # noqa: F821
    def has_run(self):  # type: ignore[no-untyped-def]
        return sn.assert_found(r'"outcome": ?"ran"', "workspace/metadata.json")
