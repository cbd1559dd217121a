import assert from 'node:assert/strict';
import type { Server } from 'node:net';
import { it } from 'node:test';
import { type LogFields, SILENT_LOG } from '../../base/log.ts';
import { listening } from '../address/listening.ts';
import { HealthFrontend } from './health-frontend.ts';

it('lab/X11: a health check of a node that fails to accept a connection goes on, and says so', async () => {
  const warnings: LogFields[] = [];
  const log = { ...SILENT_LOG, warn: (fields: LogFields) => void warnings.push(fields) };
  const servers: Server[] = [];
  const listen = (server: Server) => {
    servers.push(server);
    return listening(server, { host: '127.0.0.1', port: 0 });
  };
  const service = { namespace: 'default', name: 'web' };
  const check = { at: { host: '10.9.1.1', port: 30_000 }, service, localEndpoints: 1 };
  await using _frontend = await HealthFrontend.open(check, { plan: { listen }, log });
  servers[0]?.emit('error', new Error('too many open files'));
  assert.match(String(warnings[0]?.['err']), /too many open files/);
});
