import assert from 'node:assert/strict';
import { startDockerRegistry } from '../../oracles/run/docker-registry.ts';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { freePort } from '../../oracles/run/port.ts';
import { oracleFile } from './needs-oracle.ts';
import { digestOf } from './oci-world.ts';
import { scratchDirectory } from './scratch.ts';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5000;

/** A real registry, and the little of its API that fills it. */
export interface FilledRegistry extends AsyncDisposable {
  readonly host: string;
  pushBlob(repository: string, bytes: Uint8Array): Promise<void>;
  /** The digest that the registry keeps it under. */
  pushManifest(repository: string, reference: string, manifest: PushedManifest): Promise<string>;
}

export interface PushedManifest {
  readonly mediaType: string;
  readonly text: string;
}

export interface RealRegistryOptions {
  /** The section `auth` of the configuration. */
  readonly auth?: Readonly<Record<string, object>>;
  /** The header of whoever pushes. */
  readonly authorization?: (repository: string) => string;
}

interface Pushed {
  readonly repository: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
}

/** `await using` stops it and removes its images. */
export async function realRegistry({ auth, authorization }: RealRegistryOptions = {}): Promise<FilledRegistry> {
  await using parts = new AsyncDisposableStack();
  const directory = parts.use(await scratchDirectory());
  const guard = parts.use(new ExitGuard(directory.path));
  const { process, host } = await startDockerRegistry({
    file: oracleFile('docker-registry'),
    directory: directory.path,
    pickPort: freePort,
    guard,
    startTimeoutMs: START_TIMEOUT_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
    ...(auth !== undefined && { auth }),
  });
  parts.use(process);
  const pushed = async (url: string, method: string, init: Pushed) => {
    const { repository, body, contentType } = init;
    const headers = {
      ...(contentType !== undefined && { 'content-type': contentType }),
      ...(authorization !== undefined && { authorization: authorization(repository) }),
    };
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    assert.ok(answer.ok, `${method} ${url}: ${answer.status} ${await answer.clone().text()}`);
    return answer;
  };
  const owned = parts.move();
  return {
    host,
    async pushBlob(repository, bytes) {
      const begun = await pushed(`http://${host}/v2/${repository}/blobs/uploads/`, 'POST', { repository });
      const place = new URL(begun.headers.get('location') ?? '', `http://${host}`);
      place.searchParams.set('digest', digestOf(bytes));
      await pushed(place.href, 'PUT', { repository, body: Uint8Array.from(bytes) });
    },
    async pushManifest(repository, reference, { mediaType, text }) {
      const url = `http://${host}/v2/${repository}/manifests/${reference}`;
      const answer = await pushed(url, 'PUT', { repository, body: text, contentType: mediaType });
      return answer.headers.get('docker-content-digest') ?? '';
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
