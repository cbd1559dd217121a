import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { VirtualClock } from '../../src/base/clock.ts';
import { isRecord } from '../../src/object/record.ts';
import { scratchDirectory } from '../support/scratch.ts';

const KILLS = Number(process.env['SLIPWAY_TORTURE_KILLS'] ?? 10);
const CLIENTS = 6;
const CHILD = fileURLToPath(new URL('../support/cloud-child.ts', import.meta.url));
const PATIENCE_MS = 30_000;

type Body = Readonly<Record<string, unknown>>;

/** A cloud that can be killed. */
class Victim implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #token = '';
  url = '';

  private constructor(directory: string) {
    // NODE_TEST_CONTEXT would make the child report tests.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    this.#child = spawn(process.execPath, [CHILD, directory], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#ended = once(this.#child, 'close');
  }

  static async start(directory: string): Promise<Victim> {
    const victim = new Victim(directory);
    await victim.#begun();
    return victim;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  /** Rejects when the cloud is killed before it has answered. */
  async ask(method: string, path: string, body?: object | string, key?: string) {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        'lab-consistent': 'true',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: objectIn(text) };
  }

  async all(kind: string): Promise<readonly Body[]> {
    const items: Body[] = [];
    for (let query = '?limit=100'; query !== ''; ) {
      const { body } = await this.ask('GET', `/v1/${kind}${query}`);
      items.push(...(Array.isArray(body['items']) ? body['items'] : []));
      const { nextPageToken } = body;
      query = typeof nextPageToken === 'string' ? `?limit=100&pageToken=${nextPageToken}` : '';
    }
    return items;
  }

  async #begun(): Promise<void> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('the child has no output');
    const [url] = await Promise.race([once(createInterface(stdout), 'line'), this.#ended.then(() => [])]);
    if (url === undefined) throw new Error('the cloud did not start');
    this.url = String(url);
    const { body } = await this.ask('POST', '/v1/tokens', { clientId: 'lab-admin', clientSecret: 'secret' });
    this.#token = String(body['token']);
  }
}

function objectIn(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** What clients asked for, and what they were told. */
class Ledger {
  readonly #random: () => number;
  #count = 0;
  bucket = '';
  /** By idempotency key: the identifier of the volume, or undefined when nobody knows whether there is one. */
  readonly volumes = new Map<string, string | undefined>();
  readonly snapshots = new Map<string, string>();
  /** Identifiers; `true` when the deletion was acknowledged. */
  readonly deletions = new Map<string, boolean>();
  /** What may be in each object: the last that was acknowledged, and those after it that were not. */
  readonly objects = new Map<string, readonly string[]>();

  constructor(random: () => number) {
    this.#random = random;
  }

  /** One client, until the cloud is killed. */
  async work(victim: Victim): Promise<void> {
    for (;;) {
      const kind = this.#random();
      if (kind < 0.5) await this.#create(victim);
      else if (kind < 0.65) await this.#snapshot(victim);
      else if (kind < 0.8) await this.#delete(victim);
      else await this.#put(victim);
    }
  }

  async #create(victim: Victim): Promise<void> {
    const key = `key-${this.#count++}`;
    this.volumes.set(key, undefined);
    const { body } = await victim.ask('POST', '/v1/volumes', volumeOf(key), key);
    this.volumes.set(key, String(body['id']));
  }

  async #snapshot(victim: Victim): Promise<void> {
    const volumeId = this.#some(new Set([...this.volumes.values()].filter((id) => id !== undefined)));
    if (volumeId === undefined || this.deletions.has(volumeId)) return await sleep(1);
    const { status, body } = await victim.ask('POST', '/v1/snapshots', { name: 's', volumeId });
    if (status === 202) this.snapshots.set(String(body['id']), volumeId);
  }

  async #delete(victim: Victim): Promise<void> {
    const known = [...this.volumes.values()].filter((id) => id !== undefined && !this.deletions.has(id));
    const id = this.#some(new Set(known));
    if (id === undefined) return await sleep(1);
    this.deletions.set(id, false);
    const { status } = await victim.ask('DELETE', `/v1/volumes/${id}`);
    assert.equal(status, 202);
    this.deletions.set(id, true);
  }

  async #put(victim: Victim): Promise<void> {
    const key = `object-${Math.floor(this.#random() * 5)}-${Math.floor(this.#random() * CLIENTS)}`;
    // One client at a time: what two write at once may come in any order.
    const content = `content ${this.#count++}`;
    if (this.objects.has(key)) return await sleep(1);
    this.objects.set(key, []);
    const { status } = await victim.ask('PUT', `/v1/buckets/${this.bucket}/objects/${key}`, content);
    if (status === 200) this.objects.set(key, [content]);
  }

  #some<T>(values: ReadonlySet<T>): T | undefined {
    return [...values][Math.floor(this.#random() * values.size)];
  }
}

const volumeOf = (key: string) => ({ name: key, sizeGiB: 1, zone: 'a', tags: { key } });

/** Everything that clients were told is so, and what they do not know happened once or not at all. */
async function verify(victim: Victim, ledger: Ledger, directory: string): Promise<void> {
  for (const [key, id] of ledger.volumes) {
    const again = await victim.ask('POST', '/v1/volumes', volumeOf(key), key);
    assert.equal(again.status, 202, again.text);
    if (id !== undefined) assert.equal(again.body['id'], id, 'a repeat gets the same answer');
    ledger.volumes.set(key, String(again.body['id']));
  }
  const settled = await settledVolumes(victim);
  const left = [...ledger.volumes.values()].filter((id) => id !== undefined && ledger.deletions.get(id) !== true);
  const sure = left.filter((id) => id !== undefined && !ledger.deletions.has(id));
  const found = settled.map(({ id }) => String(id));
  assert.equal(new Set(settled.map(({ name }) => name)).size, settled.length, 'a key made two volumes');
  for (const id of sure) assert.ok(found.includes(String(id)), `volume ${id} was acknowledged and is gone`);
  for (const id of found) assert.ok(left.includes(id), `volume ${id} was deleted and is there`);
  for (const { id, state } of settled) assert.equal(state, 'available', `volume ${String(id)}`);
  const files = readdirSync(join(directory, 'cloud', 'volumes')).filter((name) => name.endsWith('.img'));
  assert.deepEqual(files.map((name) => name.slice(0, -4)).toSorted(), found.toSorted());
  await verifySnapshots(victim, ledger, directory);
  for (const [key, [content]] of ledger.objects) {
    const { status, text } = await victim.ask('GET', `/v1/buckets/${ledger.bucket}/objects/${key}`);
    if (content !== undefined) assert.deepEqual([status, text], [200, content]);
  }
  ledger.objects.clear();
}

async function verifySnapshots(victim: Victim, ledger: Ledger, directory: string): Promise<void> {
  const snapshots = await victim.all('snapshots');
  for (const id of ledger.snapshots.keys()) {
    assert.ok(
      snapshots.some((snapshot) => snapshot['id'] === id),
      `snapshot ${id} was acknowledged and is gone`,
    );
    assert.ok(existsSync(join(directory, 'cloud', 'snapshots', `${id}.img`)), `snapshot ${id} has no data`);
  }
}

/** Nothing stays on its way, whatever it was on when the cloud was killed. */
async function settledVolumes(victim: Victim): Promise<readonly Body[]> {
  const startedMs = performance.now();
  for (;;) {
    const volumes = await victim.all('volumes');
    const snapshots = await victim.all('snapshots');
    const isMoving = (each: Body) => each['operationId'] !== undefined;
    if (!volumes.some(isMoving) && !snapshots.some(isMoving)) return volumes;
    assert.ok(performance.now() - startedMs < PATIENCE_MS, 'something never comes to rest');
    await sleep(20);
  }
}

describe(`a cloud that is killed ${KILLS} times`, () => {
  it('lab/C4: keeps everything that it acknowledged, idempotency keys included, and ends what it had begun', async () => {
    await using directory = await scratchDirectory();
    const clock = new VirtualClock({ seed: 4711 });
    const ledger = new Ledger(() => clock.random());
    for (let life = 0; life <= KILLS; life++) {
      await using victim = await Victim.start(directory.path);
      if (life === 0)
        ledger.bucket = String((await victim.ask('POST', '/v1/buckets', { name: 'crash' })).body['id']);
      else await verify(victim, ledger, directory.path);
      const clients = Array.from({ length: CLIENTS }, () => ledger.work(victim));
      const outcomes = Promise.allSettled(clients);
      await sleep(30 + clock.random() * 200);
      await victim.kill();
      const failures = (await outcomes).map((outcome) =>
        outcome.status === 'rejected' ? outcome.reason : undefined,
      );
      for (const failure of failures) assert.ok(failure instanceof TypeError, String(failure));
    }
    assert.ok(ledger.volumes.size > KILLS * 2, `only ${ledger.volumes.size} volumes were asked for`);
  });
});
