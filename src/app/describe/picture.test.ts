import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsOf, healthy, hostRefused } from '../../../test/support/described-clusters.ts';
import {
  cluster,
  controlPlane,
  deployment,
  install,
  machineObjects,
  metal3Cluster,
} from '../../../test/support/described-objects.ts';
import { conditionFilter } from './condition-filter.ts';
import { reportDocument } from './document.ts';
import { mermaidText } from './mermaid.ts';
import { clusterPicture, type PictureOptions, type PictureRow } from './picture.ts';
import { clusterReport } from './report.ts';
import { isGood } from './told-condition.ts';

const FOLDED: PictureOptions = { isExpanded: false, hasAll: false, conditions: conditionFilter([]) };

const labels = (row: PictureRow): readonly string[] => [row.label, ...row.children.flatMap(labels)];

const seen = (scene = healthy(), options: Partial<PictureOptions> = {}): readonly string[] =>
  labels(clusterPicture(clusterReport(factsOf(scene)), { ...FOLDED, ...options }).root);

describe('what is folded', () => {
  it('experience/X44: is what is alike, from two on, with the names of the first', () => {
    const many = Array.from({ length: 100 }, (_, at) => machineObjects(`w-${at}`)).flat();
    const objects = [
      cluster(),
      metal3Cluster(),
      controlPlane(),
      install('adding-hosts'),
      deployment(100, 100),
      ...many,
    ];
    assert.ok(seen({ objects }).includes('Machine ×100 (w-0, w-1, w-2, …)'));
  });

  it('experience/X44: is never a problem', () => {
    const objects = ['w-0', 'w-1', 'w-2'].flatMap((name) => machineObjects(name, { infrastructure: 'missing' }));
    const found = seen({
      objects: [cluster(), metal3Cluster(), controlPlane(), install('adding-hosts'), deployment(3, 0), ...objects],
    });
    for (const name of ['w-0', 'w-1', 'w-2']) assert.ok(found.includes(`Metal3Machine/${name}`), name);
  });

  it('experience/X44: is nothing with --expand, and what repeats others comes only with --all', () => {
    const expanded = seen(healthy(), { isExpanded: true });
    assert.ok(expanded.includes('Agent/agent-cp-0') && expanded.includes('Node/cp-0'));
    assert.ok(!expanded.some((label) => label.startsWith('Secret/') || label.startsWith('ClusterDeployment/')));
    const all = seen(healthy(), { isExpanded: true, hasAll: true });
    assert.ok(all.includes('Secret/cp-0') && all.includes('ClusterDeployment/acme-lab'));
  });

  it('experience/X44: is nothing whose conditions were asked for', () => {
    const found = seen(healthy(), { conditions: conditionFilter(['agent/agent-cp-0']) });
    assert.ok(found.includes('Agent/agent-cp-0') && found.includes('Installed'));
    assert.ok(found.includes('Machine ×2 (cp-1, cp-2)'));
  });
});

describe('conditions that are asked for', () => {
  const of = (words: readonly string[], kind: string, name: string) => {
    const row = { kind, name, health: 'done', word: '', children: [] } as const;
    const conditions = [
      { type: 'Ready', status: 'True', reason: '', message: '' },
      { type: 'ScalingUp', status: 'True', reason: '', message: '' },
      { type: 'Deleting', status: 'False', reason: '', message: '' },
    ];
    return conditionFilter(words)
      .of({ ...row, conditions })
      ?.map(({ type }) => type);
  };

  it('experience/X44: are of a kind, of one object, or of all, and with + only those that are not good', () => {
    assert.deepEqual(of(['machine'], 'Machine', 'a'), ['Ready', 'ScalingUp', 'Deleting']);
    assert.deepEqual(of(['Machine/b'], 'Machine', 'a'), undefined);
    assert.deepEqual(of(['Machine/a+'], 'Machine', 'a'), ['ScalingUp']);
    assert.equal(conditionFilter(['all+']).of({ ...clusterReport(factsOf(healthy())).root }), undefined);
    assert.deepEqual(of(['all+'], 'Agent', 'x'), ['ScalingUp']);
    assert.deepEqual(of(['all+', 'Agent'], 'Agent', 'x'), ['Ready', 'ScalingUp', 'Deleting']);
  });

  it('refuses what is none of these', () => {
    for (const word of ['', '/a', 'Machine/', 'Machine/a/b', '+'])
      assert.throws(() => conditionFilter([word]), /--show-conditions must be KIND/, word);
  });

  it('experience/X44: takes False for the good state of those that tell of something going on', () => {
    const types = ['Paused', 'Deleting', 'RollingOut', 'ScalingUp', 'ScalingDown', 'Updating', 'Remediating'];
    for (const type of types) {
      assert.ok(isGood({ type, status: 'False', reason: '', message: '' }), type);
      assert.ok(!isGood({ type, status: 'True', reason: '', message: '' }), type);
    }
  });
});

describe('a report for programs', () => {
  it('experience/X44: holds every object and every condition, folded or not', () => {
    const scene = hostRefused();
    const text = JSON.stringify(reportDocument(clusterReport(factsOf(scene))));
    for (const { kind, metadata } of scene.objects)
      assert.ok(text.includes(`"kind":"${kind}","name":"${metadata.name}"`), `${kind} ${metadata.name}`);
    assert.match(text, /"type":"DataSecretAvailable"/);
  });

  it('holds nothing that is in a Secret', () => {
    const text = JSON.stringify(reportDocument(clusterReport(factsOf(hostRefused()))));
    assert.doesNotMatch(text, /Y2FuYXJ5LXNlY3JldA|canary/);
  });

  it('keeps markup out of a flowchart', () => {
    const report = clusterReport(factsOf(healthy()));
    const root = { ...report.root, name: '"]<script>', children: [] };
    const text = mermaidText(clusterPicture({ ...report, root }, FOLDED));
    assert.doesNotMatch(text, /<script>|"\]</);
    assert.match(text, /Cluster\/#34;#93;#60;script#62;/);
  });
});
