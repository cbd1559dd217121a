import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { Box } from '../../test/torture/crash-points/box-kind.ts';
import { boxController, childOf, saysDone } from '../../test/torture/crash-points/controllers.ts';
import { ConfigMap } from '../api/generated/core-v1.ts';
import { defineKind } from '../api/schema/define-kind.ts';
import { SILENT_LOG } from '../base/log.ts';
import { controllerFor } from '../kube/controller/controller.ts';
import { DONE, type Reconciler } from '../kube/controller/reconcile.ts';
import { fuzzReconciler } from './fuzz.ts';

const fuzz = (reconcile: Reconciler<Box>['reconcile']) =>
  fuzzReconciler({
    kind: Box,
    controllers: () => [boxController({ reconcile })],
    runs: 30,
    env: { log: SILENT_LOG },
  });

describe('fuzzReconciler', () => {
  it('runtime/T6: a right controller reconciles what its definition allows, and writes nothing the second time', async () => {
    const report = await fuzz(async (box, { client }) => {
      await client.apply(ConfigMap, childOf(box), { force: true });
      await saysDone(client, box);
      return DONE;
    });
    assert.deepEqual(report, { accepted: 30, rejected: 0, bugs: 0, rewritten: [] });
  });

  it('runtime/T6: finds a controller that fails on an edge of its own definition', async () => {
    const { bugs } = await fuzz((box) => {
      if (box.spec.size === 100) throw new TypeError('undefined is not a function');
      return Promise.resolve(DONE);
    });
    assert.ok(bugs > 0);
  });

  it('runtime/T6: finds a controller that writes again though nothing has changed', async () => {
    let lives = 0;
    const controllers = () => {
      const life = String(++lives);
      const reconcile: Reconciler<Box>['reconcile'] = async (box, { client }) => {
        await client.apply(ConfigMap, { ...childOf(box), data: { life } }, { force: true });
        return DONE;
      };
      return [boxController({ reconcile })];
    };
    const { rewritten } = await fuzzReconciler({ kind: Box, controllers, runs: 3 });
    assert.equal(rewritten.length, 3);
  });

  it('rejects when the server takes nothing', async () => {
    const Never = defineKind({
      group: 'crash.example.com',
      version: 'v1',
      kind: 'Never',
      plural: 'nevers',
      scope: 'Cluster',
      spec: z.object({ size: z.int().min(0).max(5) }),
      rules: { spec: [{ rule: 'self.size > 5', message: 'more' }] },
    });
    const controllers = () => [controllerFor(Never).reconcile({ reconcile: () => Promise.resolve(DONE) })];
    await assert.rejects(fuzzReconciler({ kind: Never, controllers, runs: 3 }), /refused every Never/);
  });
});
