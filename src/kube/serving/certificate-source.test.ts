import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import {
  type CertificateSource,
  certificateDirectory,
  MemoryCertificate,
  type ServingCertificate,
  selfSignedCertificate,
} from './certificate-source.ts';

const clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
const issue = (): Promise<ServingCertificate> => selfSignedCertificate({ clock }).load();

/** Files are read in real time, however slow the machine is. */
const PATIENCE_MS = 20_000;

/** Time moves on in small steps while real files are read, until `done`. */
async function advanceUntil(virtual: VirtualClock, done: () => boolean): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!done() && performance.now() < endMs) {
    await virtual.advance(50);
    await nextTurn();
  }
  assert.equal(done(), true, 'never happened');
}

const recorded = () => {
  const lines: string[] = [];
  return { lines, log: createLog({ level: 'debug', write: (line) => lines.push(line), now: () => new Date(0) }) };
};

describe('certificateDirectory', () => {
  let root: string;
  let first: ServingCertificate;
  let second: ServingCertificate;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'slipway-certificates-'));
    [first, second] = await Promise.all([issue(), issue()]);
  });
  after(() => rm(root, { recursive: true }));

  /** A volume as the kubelet lays it out: files are links into a directory that is swapped as a whole. */
  async function volume(name: string, pair: ServingCertificate): Promise<string> {
    const directory = join(root, name);
    await mkdir(join(directory, '..1'), { recursive: true });
    await write(join(directory, '..1'), pair);
    await symlink('..1', join(directory, '..data'));
    await symlink('..data/tls.crt', join(directory, 'tls.crt'));
    await symlink('..data/tls.key', join(directory, 'tls.key'));
    return directory;
  }

  async function write(directory: string, { certificatePem, keyPem }: ServingCertificate): Promise<void> {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'tls.crt'), certificatePem);
    await writeFile(join(directory, 'tls.key'), keyPem);
  }

  async function swap(directory: string, pair: ServingCertificate): Promise<void> {
    await write(join(directory, '..2'), pair);
    await symlink('..2', join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  }

  async function following(source: CertificateSource, run: (seen: ServingCertificate[]) => Promise<void>) {
    const seen: ServingCertificate[] = [];
    const stop = new AbortController();
    const followed = source.follow((pair) => seen.push(pair), stop.signal);
    try {
      await run(seen);
    } finally {
      stop.abort();
      await followed;
    }
  }

  it('runtime/W1: a swapped symbolic link brings the new certificate', async () => {
    const virtual = new VirtualClock();
    const directory = await volume('swap', first);
    const source = certificateDirectory({ directory, clock: virtual, log: recorded().log });
    assert.deepEqual(await source.load(), first);
    await following(source, async (seen) => {
      await virtual.advance(10_200);
      assert.deepEqual(seen, [], 'nothing changed');
      await swap(directory, second);
      await advanceUntil(virtual, () => seen.length > 0);
      assert.deepEqual(seen, [second]);
    });
  });

  it('keeps the old pair while the new one does not fit together, says so once, and takes it when it does', async () => {
    const virtual = new VirtualClock();
    const { lines, log } = recorded();
    const directory = join(root, 'halfway');
    await write(directory, first);
    const source = certificateDirectory({ directory, clock: virtual, log });
    await source.load();
    await following(source, async (seen) => {
      await writeFile(join(directory, 'tls.crt'), second.certificatePem);
      await advanceUntil(virtual, () => lines.some((line) => line.includes('does not belong')));
      for (let round = 0; round < 40; round++) await virtual.advance(1000);
      assert.deepEqual(seen, []);
      assert.equal(lines.filter((line) => line.includes('Keeping the old')).length, 1);
      await writeFile(join(directory, 'tls.key'), second.keyPem);
      await advanceUntil(virtual, () => seen.length > 0);
      assert.deepEqual(seen, [second]);
    });
  });

  it('does not tell of files that were written again with the same content', async () => {
    const virtual = new VirtualClock();
    const directory = join(root, 'same');
    await write(directory, first);
    const source = certificateDirectory({ directory, clock: virtual, log: recorded().log });
    await source.load();
    await following(source, async (seen) => {
      await write(directory, first);
      for (let round = 0; round < 60; round++) await virtual.advance(500);
      assert.deepEqual(seen, []);
    });
  });

  const broken = [
    { name: 'a directory without files', pair: undefined, want: /cannot read .*tls\.crt: ENOENT/ },
    {
      name: 'a text that is no certificate',
      pair: { certificatePem: 'x', keyPem: 'y' },
      want: /not a certificate and a key/,
    },
  ];
  for (const { name, pair, want } of broken) {
    it(`refuses ${name}`, async () => {
      const directory = join(root, name);
      if (pair !== undefined) await write(directory, pair);
      await assert.rejects(certificateDirectory({ directory, clock, log: recorded().log }).load(), want);
    });
  }

  it('refuses a key of another certificate', async () => {
    const directory = join(root, 'foreign');
    await write(directory, { ...first, keyPem: second.keyPem });
    const source = certificateDirectory({ directory, clock, log: recorded().log });
    await assert.rejects(source.load(), { reason: 'InvalidCertificate', message: /does not belong/ });
  });
});

describe('selfSignedCertificate', () => {
  it('runtime/M7: makes a pair that serves localhost, and a new one after two thirds of its life', async () => {
    const virtual = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
    const source = selfSignedCertificate({ clock: virtual, validityMs: 90_000 });
    const { certificatePem } = await source.load();
    assert.equal(new X509Certificate(certificatePem).checkHost('localhost'), 'localhost');
    const seen: ServingCertificate[] = [];
    const stop = new AbortController();
    const followed = source.follow((pair) => seen.push(pair), stop.signal);
    await virtual.advance(59_000);
    assert.equal(seen.length, 0);
    await virtual.advance(1000);
    // Keys are made on another thread: time must not move meanwhile, so only turns of the loop are waited for.
    while (seen.length === 0) await virtual.advance(0);
    assert.notEqual(seen[0]?.certificatePem, certificatePem);
    stop.abort();
    await followed;
  });
});

describe('MemoryCertificate', () => {
  it('tells followers of what is set, and refuses a broken pair', async () => {
    const [first, second] = await Promise.all([issue(), issue()]);
    const source = new MemoryCertificate(first);
    const seen: ServingCertificate[] = [];
    const stop = new AbortController();
    const followed = source.follow((pair) => seen.push(pair), stop.signal);
    source.set(second);
    assert.throws(() => source.set({ ...first, keyPem: second.keyPem }), /does not belong/);
    assert.deepEqual(await source.load(), second);
    stop.abort();
    await followed;
    source.set(first);
    assert.deepEqual(seen, [second]);
  });
});
