import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer } from '../../../test/support/controlled-server.ts';
import type { JsonObject } from '../../object/json.ts';
import type { LogRequest, NodeConnector } from './pod-log.ts';

const PODS = '/api/v1/namespaces/default/pods';
/** A certificate signing request for CN=test. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISk1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWRHVnpkREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkU4dWx5S3V3ZU82VFRDVThRUGhOazd3SjhVRGRsTWJKYlRoMWxYTFJHMm1tWGZ1OUI3Rjg4aUpzZ3BtClFYTzFyczFTY0hiVFZBWDFKNE5hZHlVWDVqK2dBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUVBbnFaNWNKanoKeEJwdGhVL000WUh0c0xwZ0M3Q0JQY1kvNkUrc1czY2pqb2NDSUFXenFQempkRlRKOFUzdCtpZklEV2dYZ2xjaApueU9Mb0JHT2ZmQ1dzbVhuCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

describe('pods/log', () => {
  const asked: LogRequest[] = [];
  let source: (request: LogRequest) => ReadableStream<Uint8Array> = () => textStream(['x']);
  const nodes: NodeConnector = {
    logs: (request) => {
      asked.push(request);
      return source(request);
    },
  };
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start({ nodes });
    await make('p', [{ name: 'a', image: 'i' }], { state: { running: {} } });
  });
  after(() => server[Symbol.asyncDispose]());

  const textStream = (texts: readonly string[]) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const text of texts) controller.enqueue(Buffer.from(text));
        controller.close();
      },
    });
  const make = async (name: string, containers: JsonObject[], status?: JsonObject, nodeName = 'n') => {
    const spec = { containers, ...(nodeName !== '' && { nodeName }) };
    await server.create(PODS, { metadata: { name }, spec });
    if (status === undefined) return;
    const containerStatuses = [{ name: 'a', image: 'i', imageID: '', ready: false, restartCount: 0, ...status }];
    await server.merge(`${PODS}/${name}/status`, { status: { containerStatuses } });
  };
  const log = async (name: string, query = '') => {
    const response = await server.raw('GET', `${PODS}/${name}/log${query}`);
    const text = Buffer.from(await response.bytes()).toString('utf8');
    return { status: response.status, headers: response.headers, text };
  };
  const messageOf = (text: string): string => JSON.parse(text).message;

  it('lab/E1: streams what the node of the pod sends', async () => {
    source = () => textStream(['one\n', 'two\n']);
    const { status, headers, text } = await log('p', '?tailLines=5&follow=true&container=a');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/plain');
    assert.equal(text, 'one\ntwo\n');
    const { node, namespace, pod, container, query } = asked.at(-1) as LogRequest;
    assert.deepEqual([node, namespace, pod, container], ['n', 'default', 'p', 'a']);
    assert.equal(query.toString(), 'follow=true&tailLines=5');
  });

  it('lab/E1: ends what the node does when the reader leaves', async () => {
    let isCancelled = false;
    source = () =>
      new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from('first')),
        cancel: () => {
          isCancelled = true;
        },
      });
    const response = await server.raw('GET', `${PODS}/p/log?follow=true`);
    for await (const chunk of response.stream()) {
      assert.equal(Buffer.from(chunk).toString('utf8'), 'first');
      break;
    }
    assert.equal(isCancelled, true);
    assert.equal(asked.at(-1)?.signal.aborted, true);
  });

  it('lab/E1: breaks the answer off when the node does', async () => {
    source = () => new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    const response = await server.raw('GET', `${PODS}/p/log`);
    await assert.rejects(response.bytes());
  });

  it('is empty for a pod without node', async () => {
    await make('unscheduled', [{ name: 'a', image: 'i' }], undefined, '');
    const { status, text } = await log('unscheduled');
    assert.deepEqual([status, text], [200, '']);
  });

  it('is empty without a way to the nodes', async () => {
    await using alone = await ControlledServer.start();
    await alone.create(PODS, {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'a', image: 'i' }] },
    });
    const response = await alone.raw('GET', `${PODS}/p/log`);
    assert.deepEqual([response.status, (await response.bytes()).length], [200, 0]);
  });

  it('asks which container when there are several', async () => {
    await make('several', [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ]);
    const unclear = await log('several');
    assert.equal(unclear.status, 400);
    const choose = 'a container name must be specified for pod several, choose one of: [a b]';
    assert.equal(messageOf(unclear.text), choose);
    assert.equal(
      messageOf((await log('several', '?container=x')).text),
      'container x is not valid for pod several',
    );
  });

  const ended = { terminated: { exitCode: 1 } };
  for (const [name, status, query, message] of [
    ['creating', undefined, '', 'container "a" in pod "creating" is waiting to start: ContainerCreating'],
    [
      'backoff',
      { state: { waiting: { reason: 'ImagePullBackOff' } } },
      '',
      'container "a" in pod "backoff" is waiting to start: trying and failing to pull image',
    ],
    [
      'waiting',
      { state: { waiting: { reason: 'PodInitializing' } } },
      '',
      'container "a" in pod "waiting" is waiting to start: PodInitializing',
    ],
    [
      'first-run',
      { state: { running: {} } },
      '?previous=true',
      'previous terminated container "a" in pod "first-run" not found',
    ],
    ['crashing', { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended }, '', undefined],
    ['second-run', { state: { running: {} }, lastState: ended }, '?previous=true', undefined],
  ] as const) {
    it(`${message === undefined ? 'has' : 'has no'} log of a container that is ${name}`, async () => {
      source = () => textStream(['log']);
      await make(name, [{ name: 'a', image: 'i' }], status);
      const answer = await log(name, query);
      assert.equal(answer.status, message === undefined ? 200 : 400);
      assert.equal(message === undefined ? answer.text : messageOf(answer.text), message ?? 'log');
    });
  }

  for (const [query, status, message] of [
    ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
    [
      'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
      422,
      '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ] as const) {
    it(`refuses ${query}`, async () => {
      const answer = await log('p', `?${query}`);
      assert.equal(answer.status, status);
      assert.equal(messageOf(answer.text).endsWith(message), true, messageOf(answer.text));
    });
  }

  it('knows no pod that is not there', async () => assert.equal((await log('nobody')).status, 404));
});

describe('other subresources', () => {
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start();
    await server.create(PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'a', image: 'i' }] } });
  });
  after(() => server[Symbol.asyncDispose]());

  for (const name of ['exec', 'attach', 'portforward', 'proxy']) {
    it(`says that ${name} is not available`, async () => {
      const { status, message } = await server.send('POST', `${PODS}/p/${name}`, {});
      assert.equal(status, 501);
      assert.ok(message.startsWith(`pods/${name} is not available: `), message);
    });
  }

  it('adds ephemeral containers', async () => {
    const container = { name: 'debug', image: 'i' };
    await server.merge(`${PODS}/p/ephemeralcontainers`, { spec: { ephemeralContainers: [container] } });
    const [added] = server.stored('core/pods/default/p').spec.ephemeralContainers;
    assert.equal(added.name, 'debug');
    assert.equal(added.terminationMessagePath, '/dev/termination-log');
  });

  it('approves a certificate signing request, and nothing else through it', async () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const made = await server.create(path, {
      metadata: { name: 'c' },
      spec: { request: REQUEST, signerName: 'ex.io/signer', usages: ['client auth'] },
    });
    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'm' };
    const { status, body } = await server.send('PUT', `${path}/c/approval`, {
      ...made,
      spec: { ...(made['spec'] as JsonObject), signerName: 'ex.io/other' },
      status: { conditions: [condition] },
    });
    assert.equal(status, 200, JSON.stringify(body));
    const stored = server.stored('certificates.k8s.io/certificatesigningrequests/c');
    assert.equal(stored.status.conditions[0].type, 'Approved');
    assert.equal(stored.spec.signerName, 'ex.io/signer');
  });
});
