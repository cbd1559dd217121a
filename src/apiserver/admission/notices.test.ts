import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startApiServer } from '../start.ts';

const HEADERS = { 'content-type': 'application/json' };
const bodyOf = (kind: string, apiVersion: string) =>
  JSON.stringify({ apiVersion, kind, metadata: { name: 'a' }, data: {} });

describe('notices', () => {
  it('warn whoever creates an object of the kind, and nobody else', async () => {
    const notices = { '/configmaps': 'nobody reads it' };
    await using server = await startApiServer({ listen: false, notices });
    const send = (method: string, path: string, body: string) =>
      server.client()({ method, target: `/api/v1/namespaces/default/${path}`, headers: HEADERS, body });
    const warningsOf = ({ headers }: Awaited<ReturnType<typeof send>>) => headers['warning'];
    const created = await send('POST', 'configmaps', bodyOf('ConfigMap', 'v1'));
    assert.equal(created.status, 201);
    assert.deepEqual([warningsOf(created)].flat(), ['299 - "nobody reads it"']);
    assert.equal(warningsOf(await send('PUT', 'configmaps/a', bodyOf('ConfigMap', 'v1'))), undefined);
    assert.equal(warningsOf(await send('POST', 'secrets', bodyOf('Secret', 'v1'))), undefined);
  });
});
