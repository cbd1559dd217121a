import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/object/json.ts';
import { ControlledServer, definition, ownedBy } from '../support/controlled-server.ts';
import { scratchDirectory } from '../support/scratch.ts';

interface Scenario {
  readonly name: string;
  /** Makes the world and gives the last act: the delete whose work is interrupted. */
  readonly prepare: (server: ControlledServer) => Promise<() => Promise<unknown>>;
  /** Whether the end is reached. */
  readonly isDone: (server: ControlledServer) => boolean;
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CONFIG_MAPS = '/api/v1/namespaces/x/configmaps';

const configMap = (server: ControlledServer, name: string, ownerReferences: JsonObject[] = []) =>
  server.create(CONFIG_MAPS, { metadata: { name, ownerReferences } });
const isEmpty = (server: ControlledServer, ...prefixes: readonly string[]): boolean =>
  prefixes.every((prefix) => server.store.count(`/registry/${prefix}`) === 0);

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a namespace',
    prepare: async (server) => {
      await configMap(server, 'a');
      await configMap(server, 'b');
      await server.create('/api/v1/namespaces/x/secrets', { metadata: { name: 's' } });
      return () => server.remove('/api/v1/namespaces/x');
    },
    isDone: (server) =>
      server.stored('core/namespaces/x') === undefined &&
      isEmpty(server, 'core/configmaps/x/', 'core/secrets/x/', 'core/serviceaccounts/x/'),
  },
  {
    name: 'an owner in the foreground',
    prepare: async (server) => {
      const a = await configMap(server, 'own-a');
      const b = await configMap(server, 'own-b', [ownedBy(a, { blockOwnerDeletion: true })]);
      await configMap(server, 'own-c', [ownedBy(b, { blockOwnerDeletion: true })]);
      await configMap(server, 'own-d', [ownedBy(a)]);
      return () => server.remove(`${CONFIG_MAPS}/own-a`, { propagationPolicy: 'Foreground' });
    },
    isDone: (server) => isEmpty(server, 'core/configmaps/x/own-'),
  },
  {
    name: 'an owner that orphans',
    prepare: async (server) => {
      const a = await configMap(server, 'own-a');
      await configMap(server, 'dep-b', [ownedBy(a)]);
      await configMap(server, 'dep-c', [ownedBy(a)]);
      return () => server.remove(`${CONFIG_MAPS}/own-a`, { propagationPolicy: 'Orphan' });
    },
    isDone: (server) =>
      isEmpty(server, 'core/configmaps/x/own-') &&
      ['dep-b', 'dep-c'].every(
        (name) => server.stored(`core/configmaps/x/${name}`)?.metadata.ownerReferences === undefined,
      ),
  },
  {
    name: 'a definition with objects',
    prepare: async (server) => {
      for (const name of ['a', 'b']) {
        await server.create('/apis/test.io/v1/namespaces/x/things', {
          apiVersion: 'test.io/v1',
          kind: 'Thing',
          metadata: { name },
        });
      }
      return () => server.remove(`${CRDS}/things.test.io`);
    },
    isDone: (server) =>
      isEmpty(server, 'test.io/things/') &&
      server.stored('apiextensions.k8s.io/customresourcedefinitions/things.test.io') === undefined,
  },
];

/** The files a process leaves behind when it is killed now. */
function copyImage(from: string, to: string): void {
  mkdirSync(to);
  // The log last: whatever else says that something is stored, it is in the log by then.
  const files = readdirSync(from).filter((file) => !NOT_COPIED.has(file));
  for (const file of files.toSorted((a, b) => Number(a === 'store.db-wal') - Number(b === 'store.db-wal'))) {
    cpSync(join(from, file), join(to, file), { recursive: true });
  }
}

const NOT_COPIED = new Set(['store.db-shm', 'store.reserve', 'store.holder', 'store.lock']);
const OPTIONS = { durability: 'normal', auth: { mode: 'AlwaysAllow' } } as const;

/** A data directory as it was after a write. */
interface Image {
  readonly dataDir: string;
  readonly revision: number;
}

/** Runs a scenario to its end; gives an image of the files after every write since the delete. */
async function imagesOf({ prepare, isDone }: Scenario, directory: string): Promise<readonly Image[]> {
  const dataDir = join(directory, 'data');
  await using server = await ControlledServer.start({
    ...OPTIONS,
    dataDir,
    crds: [definition('things', 'Thing')],
  });
  await server.create('/api/v1/namespaces', { metadata: { name: 'x' } });
  const act = await prepare(server);
  await server.until(() => server.stored('core/configmaps/x/kube-root-ca.crt') !== undefined);
  const images: Image[] = [];
  using _copying = server.store.subscribe('/registry/', ({ revision }) => {
    const copy = join(directory, `image-${images.length}`);
    copyImage(dataDir, copy);
    images.push({ dataDir: copy, revision });
  });
  await act();
  await server.until(() => isDone(server));
  return images;
}

describe('controllers that are killed', () => {
  for (const scenario of SCENARIOS) {
    it(`reliability/P30: reach the same end after a kill at any write: ${scenario.name}`, async () => {
      await using directory = await scratchDirectory();
      const images = await imagesOf(scenario, directory.path);
      assert.ok(images.length >= 3, `only ${images.length} points`);
      let resumed = 0;
      for (const { dataDir, revision } of images) {
        await using server = await ControlledServer.start({ ...OPTIONS, dataDir });
        await server.until(() => scenario.isDone(server));
        if (server.store.revision > revision) resumed++;
      }
      assert.ok(resumed >= 2, `only ${resumed} of ${images.length} had anything left to do`);
    });
  }
});
