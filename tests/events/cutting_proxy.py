"""A relay between a client and PostgreSQL's socket that loses the connection at a chosen message."""

import contextlib
import socket
import threading


class CuttingProxy:
    """Listens on a port of this machine; ``cut`` says at which message of a client, and how, its connection is lost.

    ``cut(number, message)`` is asked of every batch of bytes from a client, counted over all connections, and returns
    None (pass it on), ``"request"`` (lose it before the server has it) or ``"reply"`` (the server gets it, answers,
    and the answer is lost).
    """

    def __init__(self, server_socket, cut):
        self._server_socket = str(server_socket)
        self.cut = cut
        self.refusing = False
        self.messages = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def address(self, schema):
        return f"postgresql://tester@127.0.0.1:{self.port}/postgres?schema={schema}&sslmode=disable&gssencmode=disable"

    def close(self):
        self._listening.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self.refusing:
                client.close()
                continue
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server_socket)
        lost = threading.Event()
        threading.Thread(target=self._answer, args=(server, client, lost), daemon=True).start()
        try:
            while data := client.recv(1 << 20):
                self.messages += 1
                how = self.cut(self.messages, data)
                if how == "request":
                    break
                if how == "reply":
                    lost.set()
                server.sendall(data)
        except OSError:
            pass
        finally:
            _hang_up(client)
            if not lost.is_set():
                _hang_up(server)

    def _answer(self, server, client, lost):
        try:
            while data := server.recv(1 << 20):
                if lost.is_set():  # the server is done with it
                    break
                client.sendall(data)
        except OSError:
            pass
        finally:
            _hang_up(server)
            _hang_up(client)


def _hang_up(connection):
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
