/** A plain balancer before several nodes: one after the other, of those that said at /readyz that they can serve. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LOOK_MS = 100;
/** A slow check is not a failed one. */
const LOOK_MS_MAX = 30_000;

interface Node {
  readonly url: string;
  readonly agent: Agent;
  isReady: boolean;
  isChecked: boolean;
  answers: number;
}

export interface Balancer {
  readonly url: string;
  /** Resolves when the node is ready and gets its share. */
  add(url: string): Promise<void>;
  remove(url: string): void;
  /** How many requests a node has answered. */
  answersOf(url: string): number;
  close(): Promise<void>;
}

export async function openBalancer(): Promise<Balancer> {
  const nodes = new Map<string, Node>();
  let turn = 0;

  function choose(): Node | undefined {
    const ready = [...nodes.values()].filter(({ isReady }) => isReady);
    turn += 1;
    return ready[turn % Math.max(ready.length, 1)];
  }

  /** A request is passed on once: a balancer cannot know whether a node that was lost has done it. */
  function pass(asked: IncomingMessage, answer: ServerResponse): void {
    const node = choose();
    if (!node) {
      refuse(answer);
      return;
    }
    const { method, url = '/', headers } = asked;
    const passed = request(node.url + url, { method, headers, agent: node.agent }, (given) => {
      node.answers += 1;
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.on('error', () => answer.destroy());
      given.pipe(answer);
    });
    passed.on('error', () => (answer.headersSent ? answer.destroy() : refuse(answer)));
    asked.pipe(passed);
  }

  async function look(node: Node): Promise<void> {
    node.isChecked = true;
    const answer = await fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(LOOK_MS_MAX) }).catch(
      () => undefined,
    );
    await answer?.arrayBuffer().catch(() => undefined);
    node.isReady = answer?.status === 200;
    node.isChecked = false;
  }

  const server = createServer(pass).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timer = setInterval(() => {
    for (const node of nodes.values()) if (!node.isChecked) void look(node);
  }, LOOK_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: async (url) => {
      const node: Node = {
        url,
        agent: new Agent({ keepAlive: true }),
        isReady: false,
        isChecked: false,
        answers: 0,
      };
      while (!node.isReady) await look(node);
      nodes.set(url, node);
    },
    remove: (url) => {
      nodes.get(url)?.agent.destroy();
      nodes.delete(url);
    },
    answersOf: (url) => nodes.get(url)?.answers ?? 0,
    close: async () => {
      clearInterval(timer);
      for (const { agent } of nodes.values()) agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function refuse(answer: ServerResponse): void {
  answer.writeHead(502, { 'content-type': 'application/json' }).end('{"object":"bad_gateway"}');
}
