import http.server
import os
import socket
import threading
from pathlib import Path

import pytest

from turnwire_lab.bench.growth import probes
from turnwire_lab.bench.growth.probes import Redis, carried, descriptors, waiting, work

DEVICES = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo: 1234567     900    0    0    0     0          0         0 1234567     900    0
  eth0:     999      10    0    0    0     0          0         0     999      10    0
"""
CONNECTIONS = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:9C40 0100007F:1F90 06 00000000:00000000 03:00000E9C 00000000     0        0 0
   1: 0100007F:9C41 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 1
   2: 0100007F:1F90 0100007F:9C42 06 00000000:00000000 03:00000E9C 00000000     0        0 0
   3: 0100007F:9C43 0100007F:1F91 06 00000000:00000000 03:00000E9C 00000000     0        0 0
"""
STATS = """\
# Commandstats\r
cmdstat_info:calls=3,usec=90,usec_per_call=30.00,rejected_calls=0,failed_calls=0\r
cmdstat_evalsha:calls=10,usec=700,usec_per_call=70.00,rejected_calls=0,failed_calls=0\r
cmdstat_rpush:calls=25,usec=300,usec_per_call=12.00,rejected_calls=0,failed_calls=0\r
"""


def test_the_bytes_of_loopback_are_those_it_received() -> None:
    assert carried(DEVICES) == 1_234_567
    assert carried("eth0: 1 2 3") == 0


@pytest.mark.skipif(not Path("/proc/net/dev").exists(), reason="there is no /proc")
def test_what_goes_over_loopback_is_counted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        before = probes.loopback_bytes()
        with socket.create_connection(server.getsockname()) as ours, server.accept()[0] as theirs:
            ours.sendall(bytes(50_000))
            got = 0
            while got < 50_000:
                got += len(theirs.recv(65_536))

    assert probes.loopback_bytes() >= before + 50_000
    assert probes.lingering(1) == 0


def test_a_port_that_waits_is_at_the_end_that_closed_first() -> None:
    assert waiting(8_080, CONNECTIONS) == 1
    assert waiting(8_081, CONNECTIONS) == 1
    assert waiting(8_082, CONNECTIONS) == 0


def test_the_time_of_a_script_has_that_of_its_commands() -> None:
    assert work(STATS) == Redis(calls=35, busy_us=700)


def test_descriptors_are_counted() -> None:
    before = descriptors([os.getpid()])
    with socket.socket():
        assert descriptors([os.getpid()]) == before + 1
    assert descriptors([os.getpid(), os.getpid()]) == 2 * before


class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'# HELP a words\n# TYPE a counter\na{b="c"} 1\na{b="d"} 2\n\n'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_series_are_lines_that_are_no_comments() -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Metrics) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert probes.series(server.server_port) == 2
        thread.join()
