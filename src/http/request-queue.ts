import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly serve: Serve;
}

interface Connection {
  readonly socket: Socket;
  /** The one request that is being served. */
  current: Exchange | undefined;
  /** Requests that arrived after it, oldest first. */
  readonly waiting: Exchange[];
  /** Requests whose headers have arrived, since the connection was opened. */
  arrived: number;
  /** Called once all requests are answered, after the client sent bytes that are not HTTP. */
  whenAnswered: (() => void) | undefined;
  /** Response bytes that the client had not read at the previous check. */
  unreadBytes: number;
}

export interface RequestQueueSettings {
  readonly waitingMax?: number;
  readonly unreadBytesMax?: number;
}

// Node parses a whole packet before it can be paused: 64 KiB contain up to 3,640 requests, each about 4 KB of memory.
const waitingMaxDefault = 10_000;
// A connection with few waiting requests is served even when the total is exhausted.
const waitingAlwaysAllowed = 16;
const unreadBytesMaxDefault = 256 * 1024 * 1024;
const checkMs = 1_000;

/**
 * Serves the requests of a connection one at a time, in order. A client that pipelines and does not read its responses
 * therefore costs one response: while requests wait, the socket is not read, and a response is finished only when the
 * kernel has accepted all of it. Waiting requests and unread responses are also bounded over all connections.
 */
export class RequestQueue {
  readonly #waitingMax: number;
  readonly #unreadBytesMax: number;
  readonly #connections = new Map<Socket, Connection>();
  #waiting = 0;
  #check: NodeJS.Timeout | undefined;

  constructor({ waitingMax, unreadBytesMax }: RequestQueueSettings = {}) {
    this.#waitingMax = waitingMax ?? waitingMaxDefault;
    this.#unreadBytesMax = unreadBytesMax ?? unreadBytesMaxDefault;
  }

  /** Requests that have been parsed and wait for an earlier one of their connection. */
  get waiting(): number {
    return this.#waiting;
  }

  add(request: IncomingMessage, response: ServerResponse, serve: Serve): void {
    const { socket } = request;
    const connection = this.#connections.get(socket) ?? this.#open(socket);
    const exchange = { request, response, serve };
    connection.arrived += 1;
    if (connection.current === undefined) {
      connection.current = exchange;
      this.#serve(connection, exchange);
      return;
    }
    if (socket.destroyed) return;
    if (connection.waiting.length >= waitingAlwaysAllowed && this.#waiting >= this.#waitingMax) {
      socket.destroy();
      return;
    }
    connection.waiting.push(exchange);
    this.#waiting += 1;
    socket.pause();
  }

  /**
   * A request did not arrive in time. Node checks the timeout before it reads from its sockets. After a pause of this process
   * (suspended, or without CPU time) the rest of the request may be in the kernel buffer, so read that first.
   */
  onLateRequest(socket: Socket, refuse: () => void): void {
    const connection = this.#connections.get(socket) ?? this.#open(socket);
    const { arrived } = connection;
    const incomplete = incompleteOf(connection);
    setImmediate(() => {
      const hasArrived = incomplete ? incomplete.request.complete : connection.arrived > arrived;
      if (!hasArrived && socket.writable) this.onClientError(socket, refuse);
    });
  }

  /**
   * The parser found bytes that are not HTTP, or a request did not arrive in time. `refuse` writes the response that ends the
   * connection. It is called after the earlier requests are answered, and not at all if the broken request already has its
   * response.
   */
  onClientError(socket: Socket, refuse: () => void): void {
    const connection = this.#connections.get(socket) ?? this.#open(socket);
    // The parser reports the same failure again for every further packet.
    if (connection.whenAnswered) return;
    const { current, waiting } = connection;
    const incomplete = incompleteOf(connection);
    const isAnswered = incomplete?.response.headersSent === true;
    if (incomplete && incomplete === current && !isAnswered) {
      // The handler of that request can no longer write to the connection.
      connection.whenAnswered = () => undefined;
      refuse();
      socket.destroySoon();
      return;
    }
    if (incomplete && incomplete !== current) {
      waiting.pop();
      this.#waiting -= 1;
    }
    connection.whenAnswered = isAnswered ? () => socket.destroySoon() : refuse;
    if (connection.current && !connection.current.response.writableFinished) socket.pause();
    else connection.whenAnswered();
  }

  #open(socket: Socket): Connection {
    const connection: Connection = {
      ...{ socket, current: undefined, waiting: [], arrived: 0, whenAnswered: undefined, unreadBytes: 0 },
    };
    this.#connections.set(socket, connection);
    // Node also resumes the socket by itself, for example when a handler starts to read a request body.
    socket.on('resume', () => {
      if (connection.waiting.length > 0 || connection.whenAnswered) socket.pause();
    });
    socket.once('close', () => {
      this.#waiting -= connection.waiting.length;
      connection.waiting.length = 0;
      this.#connections.delete(socket);
      if (this.#connections.size > 0) return;
      clearInterval(this.#check);
      this.#check = undefined;
    });
    this.#check ??= setInterval(() => this.#dropUnread(), checkMs).unref();
    return connection;
  }

  #serve(connection: Connection, { request, response, serve }: Exchange): void {
    response.once('close', () => this.#next(connection));
    serve(request, response);
  }

  #next(connection: Connection): void {
    const { socket, waiting, whenAnswered } = connection;
    const exchange = waiting.shift();
    connection.current = exchange;
    if (exchange) {
      this.#waiting -= 1;
      // Let other connections run in between.
      setImmediate(() => socket.destroyed || this.#serve(connection, exchange));
    } else if (whenAnswered && !socket.destroyed) whenAnswered();
    if (waiting.length === 0 && socket.isPaused()) socket.resume();
  }

  /** Over the total limit, closes the connections with the most unread bytes, except those that were read since the last check. */
  #dropUnread(): void {
    const stuck: Connection[] = [];
    let total = 0;
    for (const connection of this.#connections.values()) {
      const { writableLength } = connection.socket;
      total += writableLength;
      if (connection.unreadBytes > 0 && writableLength >= connection.unreadBytes) stuck.push(connection);
      connection.unreadBytes = writableLength;
    }
    if (total <= this.#unreadBytesMax) return;
    for (const { socket, unreadBytes } of stuck.sort((a, b) => b.unreadBytes - a.unreadBytes)) {
      if (total <= this.#unreadBytesMax) return;
      total -= unreadBytes;
      socket.destroy();
    }
  }
}

/** The newest request, when its body has not arrived completely. */
function incompleteOf({ current, waiting }: Connection): Exchange | undefined {
  const newest = waiting.at(-1) ?? current;
  return newest?.request.complete === false ? newest : undefined;
}
