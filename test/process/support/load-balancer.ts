/** A round-robin load balancer over the nodes whose /readyz returns 200. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const CHECK_MS = 100;
/** A slow check is not a failed one. */
const CHECK_MS_MAX = 30_000;

interface Node {
  readonly url: string;
  readonly agent: Agent;
  isReady: boolean;
  isChecked: boolean;
  /** An operator took it out of rotation, whatever its /readyz says. */
  isDrained: boolean;
  pending: number;
  answers: number;
}

export interface LoadBalancer {
  readonly url: string;
  /** Resolves when the node is ready and receives requests. */
  add(url: string): Promise<void>;
  remove(url: string): void;
  /** Sends the node no more requests, and resolves when it has answered those that it has. */
  drain(url: string): Promise<void>;
  /** How many requests a node has answered. */
  answersOf(url: string): number;
  close(): Promise<void>;
}

export async function openLoadBalancer(): Promise<LoadBalancer> {
  const nodes = new Map<string, Node>();
  let next = 0;

  function nextReady(): Node | undefined {
    const ready = [...nodes.values()].filter(({ isReady, isDrained }) => isReady && !isDrained);
    next += 1;
    return ready[next % Math.max(ready.length, 1)];
  }

  /** Forwards a request once: a load balancer cannot know whether a lost node has executed it. */
  function forward(incoming: IncomingMessage, answer: ServerResponse): void {
    const node = nextReady();
    if (!node) {
      refuse(answer);
      return;
    }
    const { method, url = '/', headers } = incoming;
    node.pending += 1;
    answer.once('close', () => {
      node.pending -= 1;
    });
    const outgoing = request(node.url + url, { method, headers, agent: node.agent }, (upstream) => {
      node.answers += 1;
      answer.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.on('error', () => answer.destroy());
      upstream.pipe(answer);
    });
    outgoing.on('error', () => (answer.headersSent ? answer.destroy() : refuse(answer)));
    incoming.pipe(outgoing);
  }

  async function check(node: Node): Promise<void> {
    node.isChecked = true;
    const answer = await fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(CHECK_MS_MAX) }).catch(
      () => undefined,
    );
    await answer?.arrayBuffer().catch(() => undefined);
    node.isReady = answer?.status === 200;
    node.isChecked = false;
  }

  const server = createServer(forward).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const timer = setInterval(() => {
    for (const node of nodes.values()) if (!node.isChecked) void check(node);
  }, CHECK_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: async (url) => {
      const node: Node = {
        url,
        agent: new Agent({ keepAlive: true }),
        isReady: false,
        isChecked: false,
        isDrained: false,
        pending: 0,
        answers: 0,
      };
      while (!node.isReady) await check(node);
      nodes.set(url, node);
    },
    remove: (url) => {
      nodes.get(url)?.agent.destroy();
      nodes.delete(url);
    },
    drain: async (url) => {
      const node = nodes.get(url);
      if (!node) return;
      node.isDrained = true;
      while (node.pending > 0) await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
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
