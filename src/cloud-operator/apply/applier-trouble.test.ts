// Servers that are not as they should be: an applier must neither write again and again nor do harm.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplyWorld } from '../../../test/support/operator-apply-world.ts';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { keyOf } from '../../api/object.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { isInvalid } from '../../kube/client/api-error.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../kube/transport/transport.ts';

type Answer = (request: TransportRequest, next: () => Promise<TransportResponse>) => Promise<TransportResponse>;

/** A world whose server answers differently as soon as there is a trouble. */
async function troubledWorld(parts: AsyncDisposableStack) {
  const api = parts.use(await startApiServer({ storage: 'memory', listen: false }));
  const trouble: { answer?: Answer } = {};
  const inner = api.client();
  const transport: Transport = (request) =>
    trouble.answer === undefined ? inner(request) : trouble.answer(request, () => inner(request));
  const world = await ApplyWorld.open({ transport, clock: new VirtualClock() }, 'troubled');
  return { world, trouble };
}

function answered(status: number, body: object): TransportResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    status,
    headers: { 'content-type': 'application/json' },
    bytes: async () => bytes,
    async *stream() {
      yield bytes;
    },
  };
}

const failure = (code: number, reason: string, message: string): TransportResponse =>
  answered(code, { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message });

describe('applying operands where something is wrong', () => {
  it('operator/R38: does not restart pods because a Secret could not be read for a moment', async () => {
    await using parts = new AsyncDisposableStack();
    const { world, trouble } = await troubledWorld(parts);
    const operator = world.operator();
    await operator.apply(world.operands.deployment());
    trouble.answer = async ({ target }, next) =>
      target.includes('/secrets/') ? failure(500, 'InternalError', 'no') : next();
    await assert.rejects(operator.apply(world.operands.deployment()), { reason: 'InternalError' });
    assert.equal(operator.writes.length, 1);
    delete trouble.answer;
    assert.equal(await operator.apply(world.operands.deployment()), 'unchanged');
  });

  it('operator/R46: tells why a write failed, without the secrets that a server repeats', async () => {
    await using parts = new AsyncDisposableStack();
    const { world, trouble } = await troubledWorld(parts);
    const operator = world.operator();
    trouble.answer = async ({ method }, next) =>
      method === 'POST' ? failure(403, 'Forbidden', 'denied: http://joe:hunter2@proxy:1') : next();
    await assert.rejects(operator.apply(world.operands.deployment()), { reason: 'Forbidden' });
    const told = operator.events.join('\n');
    assert.match(told, /ResourceCreateFailed.*denied: http:\/\/\[redacted\]@proxy:1/);
    assert.doesNotMatch(told, /hunter2/);
  });

  it('writes once, and not again, where a webhook refuses dry runs', async () => {
    await using parts = new AsyncDisposableStack();
    const { world, trouble } = await troubledWorld(parts);
    await world.operator().apply(world.operands.deployment());
    trouble.answer = async ({ target }, next) =>
      target.includes('dryRun') ? failure(400, 'BadRequest', 'does not support dry run') : next();
    const operator = world.operator();
    assert.equal(await operator.apply(world.operands.deployment()), 'updated');
    assert.equal(await operator.apply(world.operands.deployment()), 'unchanged');
    assert.equal(operator.writes.length, 1);
  });

  it('asks again later when a dry run fails for another reason', async () => {
    await using parts = new AsyncDisposableStack();
    const { world, trouble } = await troubledWorld(parts);
    await world.operator().apply(world.operands.deployment());
    trouble.answer = async ({ target }, next) =>
      target.includes('dryRun') ? failure(503, 'ServiceUnavailable', 'later') : next();
    const operator = world.operator();
    await assert.rejects(operator.apply(world.operands.deployment()), { reason: 'ServiceUnavailable' });
    assert.deepEqual(operator.writes, []);
  });

  it('operator/R43: is silent, and writes at most once, where a server fills in what nobody knows', async () => {
    await using parts = new AsyncDisposableStack();
    const { world, trouble } = await troubledWorld(parts);
    await world.operator().apply(world.operands.service());
    trouble.answer = async ({ method, target }, next) => {
      const answer = await next();
      if (method !== 'GET' || !target.includes('/services/')) return answer;
      const service = JSON.parse(Buffer.from(await answer.bytes()).toString('utf8'));
      return answered(200, { ...service, spec: { ...service.spec, newDefault: 'x' } });
    };
    const operator = world.operator();
    assert.equal(await operator.apply(world.operands.service()), 'unchanged');
    assert.equal(await operator.apply(world.operands.service()), 'unchanged');
    assert.deepEqual([operator.writes.length, operator.events], [1, []]);
    assert.equal(await operator.apply(world.operands.service([443])), 'updated');
  });

  it('operator/R46: tells why a server takes neither a new operand nor a changed one', async () => {
    await using parts = new AsyncDisposableStack();
    const { world } = await troubledWorld(parts);
    const operator = world.operator();
    const wrong = world.operands.deployment({ image: '' });
    await assert.rejects(operator.apply(wrong), (error) => isInvalid(error));
    await operator.apply(world.operands.deployment());
    await assert.rejects(operator.apply(wrong), (error) => isInvalid(error));
    const { spec } = await world.people.get(Deployment, keyOf(wrong));
    assert.equal(spec.template.spec?.containers[0]?.image, 'example.com/ccm:1');
    assert.deepEqual(
      operator.events.map((event) => event.slice(0, event.indexOf(': '))),
      [
        'Warning ResourceCreateFailed Deployment/ccm',
        'Normal ResourceCreateSuccess Deployment/ccm',
        'Warning ResourceUpdateFailed Deployment/ccm',
      ],
    );
  });
});
