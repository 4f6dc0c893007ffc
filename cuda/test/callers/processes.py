"""A process for each rank, each with a Python of its own, as these callers have them."""

import multiprocessing

context = multiprocessing.get_context("spawn")


def run(be_rank, ranks, paths, given):
    """Calls be_rank(paths, rank, given) in as many processes. Returns an exit code: 0 if all ended well."""
    processes = [context.Process(target=be_rank, args=(paths, rank, given)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return 0 if all(process.exitcode == 0 for process in processes) else 1
