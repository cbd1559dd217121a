import { Connection } from './connection.ts';
import { load, type Rate } from './load.ts';
import type { BenchServer } from './servers.ts';
import { watchLoad } from './watch.ts';

const NAMESPACE = 'bench';
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const LISTED = '/api/v1/namespaces/bench-list/configmaps';
const WATCHED = '/api/v1/namespaces/bench-watch/configmaps';
const JSON_TYPE = 'application/json';
const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

/** 1.5 KB, as a typical ConfigMap. */
const FILLER = 'x'.repeat(1300);

const configMap = (name: string, extra: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { app: 'bench', tenth: String(Number(name.replace(/\D/g, '')) % 10) } },
    data: { filler: FILLER, ...extra },
  });

export interface Measurement {
  readonly name: string;
  readonly unit: string;
  /** Bigger is better, unless it is a cost. */
  readonly isCost: boolean;
  readonly target: number;
  run(server: BenchServer, round: number): Promise<Rate>;
}

const SECONDS = 3;
const LISTED_OBJECTS = 5000;

export async function makeNamespaces(server: BenchServer): Promise<void> {
  for (const name of [NAMESPACE, 'bench-list', 'bench-watch', 'bench-fill']) await makeNamespace(server, name);
}

export async function makeNamespace(server: BenchServer, name: string): Promise<void> {
  using connection = await Connection.open(server.credentials);
  await connection.send('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name } }));
}

/** Makes objects as fast as it goes; used to prepare, not to measure. */
export async function fill(server: BenchServer, path: string, names: readonly string[]): Promise<void> {
  const connections = await Promise.all(Array.from({ length: 32 }, () => Connection.open(server.credentials)));
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (let name = names[next++]; name !== undefined; name = names[next++]) {
        const { status, body } = await connection.send('POST', path, configMap(name));
        if (status !== 201 && status !== 409) throw new Error(`${name}: ${status} ${body.toString('utf8')}`);
      }
    }),
  );
  for (const connection of connections) connection[Symbol.dispose]();
}

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** What the other measurements read. */
export async function prepare(server: BenchServer): Promise<void> {
  await makeNamespaces(server);
  await fill(server, CONFIG_MAPS, names('read', 1000));
  await fill(server, LISTED, names('listed', LISTED_OBJECTS));
  await fill(server, WATCHED, names('watched', 200));
}

const rated = (
  name: string,
  target: number,
  options: Omit<Parameters<typeof load>[1], 'seconds' | 'request'> & {
    readonly request: (round: number) => Parameters<typeof load>[1]['request'];
  },
): Measurement => ({
  name,
  unit: '/s',
  isCost: false,
  target,
  run: ({ credentials }, round) =>
    load(credentials, { ...options, seconds: SECONDS, request: options.request(round) }),
});

const create = (round: string) => (sequence: number) => ({
  method: 'POST',
  path: CONFIG_MAPS,
  body: configMap(`made-${round}-${sequence}`),
  contentType: JSON_TYPE,
});

export const MEASUREMENTS: readonly Measurement[] = [
  rated('create, 1 client', 1, { clients: 1, expects: [201], request: (round) => create(`one${round}`) }),
  rated('create, 32 clients', 1.5, { clients: 32, expects: [201], request: (round) => create(`many${round}`) }),
  rated('get, 32 clients', 2, {
    clients: 32,
    expects: [200],
    request: () => (sequence) => ({ method: 'GET', path: `${CONFIG_MAPS}/read-${sequence % 1000}` }),
  }),
  rated('put, 32 clients', 1, {
    clients: 32,
    expects: [200],
    request: (round) => (sequence) => {
      const name = `read-${sequence % 1000}`;
      const body = configMap(name, { n: `${round}-${sequence}` });
      return { method: 'PUT', path: `${CONFIG_MAPS}/${name}`, body, contentType: JSON_TYPE };
    },
  }),
  rated('merge patch, 32 clients', 1, {
    clients: 32,
    expects: [200],
    request: (round) => (sequence) => ({
      method: 'PATCH',
      path: `${CONFIG_MAPS}/read-${sequence % 1000}`,
      body: JSON.stringify({ data: { n: `${round}-${sequence}` } }),
      contentType: MERGE,
    }),
  }),
  rated('server-side apply, 32 clients', 1, {
    clients: 32,
    expects: [200, 201],
    request: (round) => (sequence) => {
      const name = `applied-${sequence % 500}`;
      const body = configMap(name, { n: `${round}-${sequence}` });
      const path = `${CONFIG_MAPS}/${name}?fieldManager=bench&force=true`;
      return { method: 'PATCH', path, body, contentType: APPLY };
    },
  }),
  rated('list 5,000', 1, {
    clients: 4,
    expects: [200],
    request: () => () => ({ method: 'GET', path: LISTED }),
  }),
  rated('list by label (1 of 10)', 1, {
    clients: 4,
    expects: [200],
    request: () => (sequence) => ({ method: 'GET', path: `${LISTED}?labelSelector=tenth%3D${sequence % 10}` }),
  }),
  {
    name: 'watch, 50 watchers',
    unit: 'events/s',
    isCost: false,
    target: 1.5,
    run: ({ credentials }) =>
      watchLoad(credentials, {
        watchers: 50,
        writers: 8,
        seconds: SECONDS,
        path: WATCHED,
        objects: 200,
        body: (_name, mark) => JSON.stringify({ data: { mark } }),
      }),
  },
];

export const fillNames = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, index) => `filled-${from + index}`);
export const FILLED = '/api/v1/namespaces/bench-fill/configmaps';
