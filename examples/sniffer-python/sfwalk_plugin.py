"""What a sniffer for sfwalk in Python needs beside the sniffer: go-plugin's
handshake with mutual TLS, and the conversation of sniffer.proto.

    sfwalk_plugin.serve(pb.Description(name="mine", ...), begin)

begin(process) is called for each process whose stacks are walked. It returns a
function that answers a pb.Question with a pb.Answer, or raises Declines.

Needs python3-grpcio, python3-protobuf and openssl; and sniffer_pb2.py, which

    protoc -I PLUGIN/PROTOCOL --python_out=. sniffer.proto

makes of the protocol, so that it fits the protobuf that is installed.
"""

import base64
import os
import queue
import ssl
import subprocess
import sys
import tempfile
import threading
from concurrent import futures

import grpc
import sniffer_pb2 as pb

COOKIE = ("SFWALK_PLUGIN", "7c0f6f0a3a2f4f1c9a5d5b7f2c6f1e0d")
VERSION = 1  # of sniffer.proto


class Declines(Exception):
    """Raised by begin: no frame of this process will be claimed, and why."""


class Process:
    """The process that a session is about. Its methods ask the host."""

    def __init__(self, begin, ask):
        self.begin = begin  # pb.Begin: architecture, register numbers, process ID
        self.never = []     # to be filled by begin: pb.Range of code that is never claimed
        self._ask = ask

    def read(self, *ranges):
        """Memory of each range (lo, hi), 64 KiB in all; shorter where it cannot be read."""
        want = pb.Read(ranges=[pb.Range(lo=lo, hi=hi) for lo, hi in ranges])
        return [block.data for block in self._ask(read=want).memory.blocks]

    def find(self, name, module=""):
        """Functions and data of that name: a list of pb.Symbol."""
        return self._ask(find=pb.Find(name=name, module=module)).found.symbols

    def modules(self):
        """What is mapped in the process: a list of pb.Module."""
        found, more = [], 0
        while True:
            part = self._ask(list=pb.List(**{"from": more})).modules
            found += part.modules
            if part.more <= more:
                return found
            more = part.more


def serve(description, begin):
    """Serves a sniffer to the host that has started this program, until the host is gone."""
    if os.environ.get(COOKIE[0]) != COOKIE[1]:
        path = os.path.abspath(sys.argv[0])
        sys.exit(f"{description.name} is a sniffer for sfwalk, which starts it:\n\n"
                 f"  sfwalk plugin check {path}\n  sfwalk attach --plugin {path} PID")
    gone = threading.Event()  # the host is, or wants the program to end
    credentials, certificate = tls(os.environ.get("PLUGIN_CLIENT_CERT", ""))
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64))  # one for each session
    server.add_generic_rpc_handlers([
        grpc.method_handlers_generic_handler("sfwalk.sniffer.v1.Sniffer", {
            "Describe": grpc.unary_unary_rpc_method_handler(
                lambda request, context: description,
                pb.DescribeRequest.FromString, pb.Description.SerializeToString),
            "Session": grpc.stream_stream_rpc_method_handler(
                lambda requests, context: session(requests, begin),
                pb.FromHost.FromString, pb.FromPlugin.SerializeToString),
        }),
        # What go-plugin asks of every plug-in. The messages are so small that they are
        # written out: HealthCheckResponse{status: SERVING}, and Empty.
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {
            "Check": grpc.unary_unary_rpc_method_handler(lambda request, context: b"\x08\x01"),
        }),
        grpc.method_handlers_generic_handler("plugin.GRPCController", {
            "Shutdown": grpc.unary_unary_rpc_method_handler(lambda request, context: gone.set() or b""),
        }),
    ])
    folder = os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or tempfile.gettempdir()
    path = os.path.join(folder, f"sniffer-{os.getpid()}")
    if credentials:
        server.add_secure_port("unix:" + path, credentials)
    else:
        server.add_insecure_port("unix:" + path)
    server.start()

    # The host knows from this line that the plug-in is there, and what version of the
    # protocol it speaks: where the host does not, it says so.
    print(f"1|{VERSION}|unix|{path}|grpc|{certificate}", flush=True)

    threading.Thread(target=lambda: (sys.stdin.buffer.read(), gone.set()), daemon=True).start()
    gone.wait()
    server.stop(0.1).wait()
    os._exit(0)  # also where a sniffer hangs


def tls(client):
    """Credentials that admit the host alone, and the certificate by which it knows this
    program. client is the host's certificate, "" if it does not want TLS."""
    if not client:
        return None, ""
    # The key is in memory alone. (P-256 takes a fraction of the time of RSA.)
    pem = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "3650",
         "-keyout", "/dev/stdout", "-out", "/dev/stdout"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    at = pem.index(b"-----BEGIN CERTIFICATE-----")
    key, certificate = pem[:at], pem[at:]
    credentials = grpc.ssl_server_credentials(
        [(key, certificate)], root_certificates=client.encode(), require_client_auth=True)
    return credentials, base64.b64encode(ssl.PEM_cert_to_DER_cert(certificate.decode())).decode().rstrip("=")


def session(requests, begin):
    """The plug-in's messages of one session. A thread of its own speaks with the host, so
    that a sniffer can ask from anywhere."""
    messages = queue.SimpleQueue()
    threading.Thread(target=converse, args=(requests, begin, messages.put), daemon=True).start()
    while (message := messages.get()) is not None:
        if isinstance(message, Exception):
            raise message  # grpc prints it, and ends the session
        yield message


def converse(requests, begin, send):
    def ask(**message):
        send(pb.FromPlugin(**message))
        return next(requests)

    sniff = None
    try:
        for message in requests:
            if message.WhichOneof("message") == "begin":
                process, why = Process(message.begin, ask), ""
                try:
                    sniff = begin(process)
                except Declines as declines:
                    sniff, why = None, str(declines)
                send(pb.FromPlugin(ready=pb.Ready(declines=why, never=process.never)))
            else:
                answer = sniff(message.question) if sniff else pb.Answer(declines="there is no session")
                answer.number = message.question.number
                send(pb.FromPlugin(answer=answer))
        send(None)
    except grpc.RpcError:
        send(None)  # the host has ended the session in its own way
    except Exception as fault:
        send(fault)
