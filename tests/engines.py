"""An engine that keeps shards in other processes: what a cluster does, on one machine."""

from contextlib import nullcontext
from multiprocessing import get_context


def _serve(connection):
    shards = {}
    while (message := connection.recv()) is not None:
        function, number, arguments = message
        try:
            if function is None:
                (shards[number],) = arguments
                connection.send((True, None))
            else:
                connection.send((True, function(shards[number], *arguments)))
        except Exception as error:
            connection.send((False, error))


class Processes:
    """Every shard lives in one of several processes; only functions, arguments and answers travel."""

    def __init__(self, n_processes):
        context = get_context("spawn")
        self.connections, self.processes, self.n_shards = [], [], 0
        for _ in range(n_processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            self.connections.append(ours)
            self.processes.append(process)

    def _call(self, placed, function, arguments):
        connection = self.connections[placed % len(self.connections)]
        connection.send((function, placed, arguments))
        worked, answer = connection.recv()
        if not worked:
            raise answer
        return answer

    def place(self, shards):
        numbers = list(range(self.n_shards, self.n_shards + len(shards)))
        self.n_shards += len(shards)
        for number, shard in zip(numbers, shards, strict=True):
            self._call(number, None, (shard,))
        return numbers

    def map(self, function, placed, *arguments):
        for number in placed:
            yield self._call(number, function, arguments)

    def session(self):
        return nullcontext()

    def close(self):
        for connection, process in zip(self.connections, self.processes, strict=True):
            connection.send(None)
            process.join(10)
