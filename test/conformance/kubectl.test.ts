import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { needsAll, needsOracle, oracleFile } from '../support/needs-oracle.ts';
import { type Outcome, outcomeOf, scratchDirectory } from '../support/scratch.ts';
import { type Peer, type ServerPair, startPair } from './differential/server-pair.ts';
import { fill, type Variables } from './differential/variables.ts';

/** One command line and what of its output counts. */
interface Command {
  readonly run: string;
  readonly as?: string;
  /** Only lines that match are compared, for instance where ours has no descriptions. */
  readonly lines?: string;
  /** Repeats until the command succeeds, for what a server needs a moment to do. */
  readonly until?: 'success' | 'failure';
  /** Compares the exit code alone. */
  readonly output?: false;
}

interface Transcript {
  readonly name: string;
  readonly files?: Readonly<Record<string, unknown>>;
  readonly commands: readonly Command[];
}

// Upstream serves a new definition after a few seconds.
const UNTIL_TIMEOUT_MS = 40_000;
const POLL_MS = 300;
const TRANSCRIPTS_AT_ONCE = 3;

const needs = needsAll(
  needsOracle('etcd'),
  needsOracle('kube-apiserver'),
  needsOracle('kube-controller-manager'),
  needsOracle('kubectl'),
);

describe('kubectl with our API server and with kube-apiserver', needs, () => {
  const run = randomBytes(3).toString('hex');
  let pair: ServerPair;
  let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
  /** What kubectl said to upstream, for people who wonder. */
  const said: Record<string, readonly string[]> = {};
  before(async () => {
    scratch = await scratchDirectory();
    pair = await startPair();
  });
  after(async () => {
    await pair[Symbol.asyncDispose]();
    await scratch[Symbol.asyncDispose]();
    await writeFile(join(tmpdir(), 'slipway-kubectl-report.json'), JSON.stringify(said, null, 1));
  });

  const variablesOf = (id: string): Variables =>
    new Map<string, unknown>([
      ['ns', id],
      ['own', `${id}.example.com`],
      ['dir', join(scratch.path, id)],
    ]);

  /** Once for both servers: a file that is written while kubectl reads it looks empty. */
  async function writeFiles({ files = {} }: Transcript, id: string): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      // YAML of Go is a superset of JSON, so any object can be written so.
      await writeFile(`${join(scratch.path, id)}-${name}`, JSON.stringify(fill(content, variablesOf(id))));
    }
  }

  async function play(peer: Peer, transcript: Transcript, id: string): Promise<readonly string[]> {
    const variables = variablesOf(id);
    await kubectl(peer.kubeconfig('admin'), 'create', 'namespace', id);
    await kubectl(peer.kubeconfig('admin'), 'wait', '--for=create', `--namespace=${id}`, 'serviceaccount/default');
    const mask = new TextMask(peer.url);
    const texts: string[] = [];
    for (const command of transcript.commands) {
      texts.push(mask.result(await answer(peer, fill(command, variables)), command));
    }
    return texts;
  }

  describe('says the same', { concurrency: TRANSCRIPTS_AT_ONCE }, () => {
    const file = join(import.meta.dirname, 'testdata', 'kubectl.yaml');
    const transcripts = parse(readFileSync(file, 'utf8'), { merge: true }) as readonly Transcript[];
    for (const [index, transcript] of transcripts.entries()) {
      it(transcript.name, async () => {
        const id = `k${index + 1}-${run}`;
        await writeFiles(transcript, id);
        const [upstream, ours] = await Promise.all([
          play(pair.upstream, transcript, id),
          play(pair.ours, transcript, id),
        ]);
        said[transcript.name] = transcript.commands.map(
          ({ run: line }, at) => `$ kubectl ${line}\n${upstream[at]}`,
        );
        for (const [at, { run: line }] of transcript.commands.entries()) {
          assert.equal(ours[at], upstream[at], `kubectl ${line}`);
        }
      });
    }
  });
});

/** With a PATH, because `kubectl diff` calls a program; the discovery cache goes to HOME. */
function kubectl(kubeconfigFile: string, ...kubectlArguments: readonly string[]): Promise<Outcome> {
  const variables = { HOME: dirname(kubeconfigFile), KUBECONFIG: kubeconfigFile, PATH: process.env['PATH'] };
  return outcomeOf(oracleFile('kubectl'), kubectlArguments, variables);
}

async function answer(peer: Peer, { run, as = 'admin', until }: Command): Promise<Outcome> {
  const words = run.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? [];
  const kubectlArguments = words.map((text) => text.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  const startedMs = performance.now();
  for (;;) {
    const result = await kubectl(peer.kubeconfig(as), ...kubectlArguments);
    const isDone = until === undefined || (result.code === 0) === (until === 'success');
    if (isDone || performance.now() - startedMs > UNTIL_TIMEOUT_MS) return result;
    await sleep(POLL_MS);
  }
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const MASKS: readonly (readonly [RegExp, string])[] = [
  // The prefix of a log line: severity, date, time and process.
  [/^([IWE])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, '$1 '],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>'],
  [/(resourceVersion"?: ")\d+"/g, '$1<revision>"'],
  [/(Resource Version:\s+)\d+/g, '$1<revision>'],
  [/X509SHA256=[0-9a-f]+/g, 'X509SHA256=<hash>'],
  [/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g, '<certificate>'],
  [/\b10\.\d+\.\d+\.\d+\b/g, '<address>'],
  [/(^|\s)(?:\d+[smhd])+(?=\s|$)/gm, '$1<age>'],
  [/\/tmp\/(?:LIVE|MERGED)-\d+/g, '<directory>'],
  [/^(?:---|\+\+\+) .*$/gm, '<file of diff>'],
  [/^diff -u.*$/gm, '<command of diff>'],
  // Columns are as wide as their widest cell, which may be an age.
  [/[ \t]+$/gm, ''],
  [/(?<=\S) {2,}/g, '  '],
];

/** Replaces what no two servers share; identifiers become ordinals. */
class TextMask {
  readonly #uids = new Map<string, string>();
  readonly #server: string;

  constructor(server: string) {
    this.#server = server;
  }

  result({ code, stdout, stderr }: Outcome, { lines, output }: Command): string {
    const parts = output === false ? [] : [this.#text(stdout, lines), '--- stderr', this.#text(stderr, lines)];
    return [`exit code ${code}`, ...parts].join('\n');
  }

  #text(text: string, lines: string | undefined): string {
    let masked = text.replaceAll(this.#server, '<server>');
    masked = masked.replace(UUID, (uid) => {
      const name = this.#uids.get(uid) ?? `<uid ${this.#uids.size + 1}>`;
      this.#uids.set(uid, name);
      return name;
    });
    for (const [pattern, replacement] of MASKS) masked = masked.replace(pattern, replacement);
    const wanted = lines === undefined ? undefined : new RegExp(lines);
    return masked
      .split('\n')
      .filter((line) => wanted === undefined || wanted.test(line))
      .join('\n');
  }
}
