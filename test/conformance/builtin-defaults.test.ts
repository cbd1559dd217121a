import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import type { JsonObject } from '../../src/object/json.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import {
  CONVERTED,
  type ConvertedRow,
  CREATED,
  type CreatedRow,
  causeLines,
  convertOurs,
  createOurs,
  masked,
  sentObject,
  testdata,
  UPDATED,
  type UpdatedRow,
  ungenerated,
  updateOurs,
  withoutManagers,
  withReadAnnotations,
} from './builtin-cases.ts';
import { causesOf, collectionOf, prepareNamespace, updateTheirs } from './builtin-oracle.ts';
import { OracleRequests } from './oracle-requests.ts';
import { Recording } from './recording.ts';

interface GoodRow {
  readonly name: string;
  readonly object: JsonObject;
}

interface BadRow extends GoodRow {
  /** A dry run would not ask the allocators. */
  readonly isReal?: boolean;
}

interface VersionRow extends GoodRow {
  readonly as: string;
}

interface UpdateRow {
  readonly name: string;
  readonly old: JsonObject;
  readonly new: JsonObject;
  /** Upstream adds a diff or a Go struct to the message: only reasons and fields are compared. */
  readonly fields?: boolean;
  readonly subresource?: string;
}

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kube-controller-manager'),
);

describe('built-in kinds beside the real server', needs, () => {
  let cluster: ControlPlane | undefined;
  let oracle: OracleRequests;
  const converted = new Recording<ConvertedRow>(CONVERTED);
  const created = new Recording<CreatedRow>(CREATED);
  const updated = new Recording<UpdatedRow>(UPDATED);
  before(async () => {
    // One that runs already saves the start while working on the rules.
    const running = process.env['SLIPWAY_ORACLE_KUBECONFIG'];
    if (running === undefined) cluster = await startKubernetes({ controllerManager: true });
    oracle = new OracleRequests(running ?? cluster?.admin ?? '');
    await prepareNamespace(oracle);
  });
  after(async () => {
    converted.save();
    created.save();
    updated.save();
    oracle[Symbol.dispose]();
    await cluster?.stop();
  });

  for (const { name, object } of testdata<GoodRow>('builtin-good.yaml')) {
    it(`apiserver/W10: stores the same: ${name}`, async () => {
      const sent = sentObject(object);
      const { status, body } = await oracle.send('POST', `${await collectionOf(oracle, sent)}?dryRun=All`, sent);
      assert.equal(status, 201, JSON.stringify(body));
      const ours = createOurs(sent);
      assert.deepEqual(causeLines(ours.causes), []);
      assert.deepEqual(masked(ours.object), masked(body));
      created.add({ name, sent, stored: masked(body), causes: [] });
    });
  }

  for (const { name, object, isReal = false } of testdata<BadRow>('builtin-bad.yaml')) {
    it(`apiserver/E7: refuses for the same reasons: ${name}`, async () => {
      const sent = sentObject(object);
      const query = isReal ? '' : '?dryRun=All';
      const { status, body } = await oracle.send('POST', `${await collectionOf(oracle, sent)}${query}`, sent);
      assert.equal(status, 422, JSON.stringify(body));
      const causes = causeLines(causesOf(body));
      assert.deepEqual(causeLines(createOurs(sent).causes), causes);
      created.add({ name, sent, causes });
    });
  }

  for (const { name, old, new: change, fields = false, subresource = '' } of testdata<UpdateRow>(
    'builtin-updates.yaml',
  )) {
    it(`apiserver/E7: takes or refuses the same change: ${name}`, async () => {
      const { stored, sent, causes, result } = await updateTheirs(oracle, old, { change, subresource });
      const ours = updateOurs(stored, sent, subresource);
      const lines = causeLines(causes, fields);
      assert.deepEqual(causeLines(ours.causes, fields), lines);
      const after = causes.length > 0 ? undefined : ungenerated(result);
      if (after !== undefined) assert.deepEqual(ungenerated(ours.object), after);
      const [before, put] = [withoutManagers(stored), withoutManagers(sent)];
      updated.add({
        name,
        stored: before,
        sent: put,
        subresource,
        isShort: fields,
        causes: lines,
        ...(after && { after }),
      });
    });
  }

  for (const { name, object, as } of testdata<VersionRow>('builtin-versions.yaml')) {
    it(`apiserver/G12: shows the same in another version: ${name}`, async () => {
      const sent = sentObject(object);
      const path = `${await collectionOf(oracle, sent)}`;
      const from = withoutManagers((await oracle.send('POST', path, sent)).body);
      const other = await collectionOf(oracle, { ...sent, apiVersion: as });
      const to = withoutManagers((await oracle.send('GET', `${other}/x`)).body);
      await oracle.send('DELETE', `${path}/x`);
      assert.deepEqual(withReadAnnotations(convertOurs(from, as)), withReadAnnotations(to));
      converted.add({ name, as, from, to });
    });
  }
});
