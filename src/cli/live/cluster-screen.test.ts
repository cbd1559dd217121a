import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringInstallation, factsOf, healthy, hostRefused } from '../../../test/support/described-clusters.ts';
import { AT } from '../../../test/support/described-objects.ts';
import { type FakeTerminalOptions, fakeTerminal } from '../../../test/support/fake-terminal.ts';
import { ClusterBoard } from '../../app/describe/board.ts';
import { conditionFilter } from '../../app/describe/condition-filter.ts';
import { clusterPicture } from '../../app/describe/picture.ts';
import { clusterReport } from '../../app/describe/report.ts';
import { VirtualClock } from '../../base/clock.ts';
import { showCluster } from './cluster-screen.ts';

const SETTINGS = { output: 'text', plain: false, ascii: false, color: true } as const;
const ENV = { LANG: 'C.UTF-8', TERM: 'xterm' };

const pictureOf = (scene: ReturnType<typeof healthy>) =>
  clusterPicture(clusterReport(factsOf(scene)), {
    isExpanded: false,
    hasAll: false,
    conditions: conditionFilter([]),
  });

function screen(options: FakeTerminalOptions & { readonly isWatched: boolean; readonly plain?: boolean }) {
  const terminal = fakeTerminal(options);
  const clock = new VirtualClock({ start: AT });
  const board = new ClusterBoard(options);
  const settings = { ...SETTINGS, plain: options.plain ?? false };
  const shown = showCluster(board, { settings, env: ENV, clock, terminal });
  return { terminal, clock, board, shown };
}

describe('a cluster on a terminal', () => {
  it('experience/X1: is printed once and for all where nobody watches', () => {
    const { terminal, board, shown } = screen({ isWatched: false });
    board.publish(pictureOf(healthy()));
    shown[Symbol.dispose]();
    assert.match(terminal.output(), /Cluster\/acme-lab/);
    assert.ok(!terminal.output().includes('\u001b[?25l'), 'the cursor stays');
  });

  it('experience/X8: is redrawn in place while it is watched, and the cursor comes back', () => {
    const { terminal, board, shown } = screen({ isWatched: true });
    board.publish(pictureOf(duringInstallation()));
    const before = terminal.writes.length;
    board.publish(pictureOf(duringInstallation()));
    assert.equal(terminal.writes.length, before, 'the same picture is not drawn again');
    board.publish(pictureOf(healthy()));
    assert.ok(terminal.writes.length > before);
    shown[Symbol.dispose]();
    assert.ok(terminal.output().endsWith('\u001b[?25h'));
    assert.ok(!terminal.output().includes('\u001b[?1049h') && !terminal.output().includes('\u001b[2J'));
  });

  it('moves the ages while nothing else happens', async () => {
    const { terminal, clock, board, shown } = screen({ isWatched: true });
    board.publish(pictureOf(healthy()));
    await clock.advance(61_000);
    assert.match(terminal.output(), /15 m old/);
    shown[Symbol.dispose]();
  });

  it('experience/X7: fits the terminal after a resize', () => {
    const { terminal, board, shown } = screen({ isWatched: true });
    board.publish(pictureOf(hostRefused()));
    terminal.resize(60, 12);
    const last = terminal.writes.at(-1) ?? '';
    assert.ok(last.split('\n').length <= 12, `${last.split('\n').length} lines`);
    shown[Symbol.dispose]();
  });

  it('experience/X4: appends one line for each change where there is no terminal', () => {
    const { terminal, board, shown } = screen({ isWatched: true, isTTY: false });
    board.publish(pictureOf(healthy()));
    const first = terminal.output();
    board.publish(pictureOf(hostRefused()));
    shown[Symbol.dispose]();
    const more = terminal.output().slice(first.length).trimEnd().split('\n');
    assert.ok(
      more.includes('12:00:00.000Z Cluster/acme-lab: ▲ not available: 1 worker not ready'),
      more.join('\n'),
    );
    assert.ok(more.includes('12:00:00.000Z next: kubectl -n acme edit secret bmc-rack1-07'));
    assert.ok(!more.some((line) => line.includes('Metal3Cluster')), 'what has not changed is not repeated');
    assert.ok(!terminal.output().includes('\u001b') && !terminal.output().includes('\r'));
  });

  it('says what is gone', () => {
    const { terminal, board, shown } = screen({ isWatched: true, isTTY: false });
    board.publish(pictureOf(hostRefused()));
    board.publish(pictureOf(healthy()));
    shown[Symbol.dispose]();
    assert.match(terminal.output(), /12:00:00\.000Z Machine\/w-2: gone/);
  });

  it('experience/X5: is told in sentences to a screen reader', () => {
    const { terminal, board, shown } = screen({ isWatched: false, plain: true });
    board.publish(pictureOf(hostRefused()));
    shown[Symbol.dispose]();
    assert.match(terminal.output(), /^Cluster acme-lab in namespace acme, OpenShift 4\.20\.3/);
    assert.doesNotMatch(terminal.output(), /[✔✖▲◐○├└│]/);
  });
});
