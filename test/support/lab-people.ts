import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ImageCatalogue, type Lab, type LabOptions, startLab } from '../../src/lab/index.ts';
import { kubectl } from './kubectl.ts';

const programOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Where they listen. Not 8080: whoever has that on all addresses of this machine has it on those of a lab. */
export const WEB_PORT = 18_418;

/** Programs of this folder as images. */
export const IMAGES = {
  'demo/web': { argv: ['node', programOf('./people-program.ts')], entrypoint: 2 },
  'demo/own': {
    argv: ['node', '--conditions=slipway-source', programOf('./in-cluster-program.ts')],
    entrypoint: 3,
  },
} as const satisfies ImageCatalogue;

export interface WebOptions {
  readonly replicas?: number;
  readonly spec?: object;
  readonly template?: object;
}

/** A Deployment `web` of the program that serves, whose pods are ready when it does. */
export const web = ({ replicas = 2, spec = {}, template = {} }: WebOptions = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 2,
        containers: [
          {
            name: 'app',
            image: 'demo/web:1',
            ports: [{ containerPort: WEB_PORT }],
            readinessProbe: { httpGet: { port: WEB_PORT }, periodSeconds: 1 },
          },
        ],
        ...template,
      },
    },
    ...spec,
  },
});

type Say = (...words: readonly string[]) => Promise<string>;

/** A lab with somebody at the keyboard. */
export interface People extends AsyncDisposable {
  readonly lab: Lab;
  /** What kubectl prints; fails when it does. */
  readonly said: Say;
  /** What kubectl complains about; fails when it does not. */
  readonly refused: Say;
  readonly applied: (...objects: readonly object[]) => Promise<string>;
}

/** Starts a lab on real time, for kubectl. */
export async function startPeople(options: LabOptions): Promise<People> {
  const lab = await startLab({ images: IMAGES, maxGraceMs: 2000, ...options });
  const config = lab.cluster().kubeconfigPath;
  let files = 0;
  const said = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(config, ...words);
    assert.equal(code, 0, `kubectl ${words.join(' ')}: ${stderr}`);
    return stdout;
  };
  return {
    lab,
    said,
    refused: async (...words) => {
      const { code, stdout, stderr } = await kubectl(config, ...words);
      assert.notEqual(code, 0, `kubectl ${words.join(' ')}: ${stdout}`);
      return stderr;
    },
    applied: async (...objects) => {
      const file = join(lab.directory, `applied-${++files}.json`);
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
      return await said('apply', '-f', file);
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

/** A user of the cloud, who speaks HTTP. */
export async function cloudUser({ cloud }: Lab) {
  const [{ clientId, clientSecret } = { clientId: '', clientSecret: '' }] = cloud.credentials();
  const send = (
    method: string,
    path: string,
    body: object | undefined,
    headers: Readonly<Record<string, string>>,
  ) =>
    fetch(`${cloud.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const read = async (response: Response) => {
    const text = await response.text();
    assert.ok(response.ok, `${response.url}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const { token } = await read(await send('POST', '/v1/tokens', { clientId, clientSecret }, {}));
  const own = { authorization: `Bearer ${token}` };
  return async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
    await read(await send(method, path, body, { ...own, ...headers }));
}
