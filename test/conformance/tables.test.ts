import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { builtinResources } from '../../src/apiserver/builtin-data/builtin-resources.ts';
import { columnsOf } from '../../src/apiserver/printing/columns.ts';
import type { Column } from '../../src/apiserver/registry/resource.ts';
import type { Json, JsonObject } from '../../src/object/json.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import {
  groupOf,
  NAMESPACE,
  PRINTED,
  type PrintedRow,
  sentObject,
  steady,
  testdata,
  textOf,
  withoutManagers,
} from './builtin-cases.ts';
import { collectionOf } from './builtin-oracle.ts';
import { OracleRequests } from './oracle-requests.ts';
import { Recording } from './recording.ts';

interface TableRow {
  readonly name: string;
  readonly object: JsonObject;
  readonly status?: JsonObject;
  /** Asked to go before it is looked at; a finalizer keeps it. */
  readonly isDeleted?: boolean;
}

interface Table {
  readonly columnDefinitions: readonly Column[];
  readonly rows: readonly { cells: Json[]; conditions?: JsonObject[]; object: JsonObject }[];
}

const AS_TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const MERGE = { 'content-type': 'application/merge-patch+json' };

/** Descriptions are prose of upstream, which we do not carry. */
const shapeOf = ({ name, type, format, priority }: Column): unknown => ({ name, type, format, priority });

const NO_ROW: Table['rows'][number] = { cells: [], object: {} };

/** The table of one object, which is created for it and removed again. */
async function printed(oracle: OracleRequests, sent: JsonObject, { status, isDeleted }: TableRow): Promise<Table> {
  const collection = await collectionOf(oracle, sent);
  const created = await oracle.send('POST', collection, sent);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const path = `${collection}/${(sent['metadata'] as { name: string }).name}`;
  if (status !== undefined) await oracle.send('PATCH', `${path}/status`, { status }, MERGE);
  if (isDeleted === true) await oracle.send('DELETE', path, { propagationPolicy: 'Background' });
  const table = await oracle.send('GET', `${path}?includeObject=Object`, undefined, AS_TABLE);
  await oracle.send('DELETE', path, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
  await oracle.send('PATCH', path, { metadata: { finalizers: null } }, MERGE);
  return table.body as unknown as Table;
}

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver'));

describe('tables beside the real server', needs, () => {
  let cluster: ControlPlane | undefined;
  let oracle: OracleRequests;
  const rowsSeen = new Recording<PrintedRow>(PRINTED);
  before(async () => {
    const running = process.env['SLIPWAY_ORACLE_KUBECONFIG'];
    if (running === undefined) cluster = await startKubernetes();
    oracle = new OracleRequests(running ?? cluster?.admin ?? '');
    await oracle.send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  });
  after(async () => {
    rowsSeen.save();
    oracle[Symbol.dispose]();
    await cluster?.stop();
  });

  for (const row of testdata<TableRow>('tables.yaml')) {
    const { name } = row;
    it(`apiserver/C6: prints the same row: ${name}`, async () => {
      const sent = sentObject(row.object);
      const { columnDefinitions, rows } = await printed(oracle, sent, row);
      const columns = columnsOf(groupOf(sent), textOf(sent, 'kind'));
      assert.deepEqual(columns.definitions.map(shapeOf), columnDefinitions.map(shapeOf));
      const [{ cells, conditions = [], object } = NO_ROW] = rows;
      const now = new Date();
      assert.deepEqual(steady(columns.cells(object, now)), steady(cells));
      assert.deepEqual(columns.rowConditions?.(object) ?? [], conditions);
      const shown = { ...withoutManagers(object), apiVersion: sent['apiVersion'] ?? '', kind: sent['kind'] ?? '' };
      rowsSeen.add({ name, now: now.toISOString(), object: shown, cells: [...steady(cells)], conditions });
    });
  }

  for (const { group, version, kind } of builtinResources().filter(({ verbs }) => verbs.includes('list'))) {
    it(`apiserver/C6: has the same columns: ${kind} of ${group === '' ? 'core' : group}/${version}`, async () => {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const collection = await oracle.collectionOf(apiVersion, kind, NAMESPACE);
      const table = (await oracle.send('GET', `${collection}?limit=1`, undefined, AS_TABLE)).body;
      const { columnDefinitions } = table as unknown as Table;
      assert.deepEqual(columnsOf(group, kind).definitions.map(shapeOf), columnDefinitions.map(shapeOf));
    });
  }
});
