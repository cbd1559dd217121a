import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { demoComponents } from '../../../test/support/demo-journey.ts';
import { type FakeTerminalOptions, fakeTerminal } from '../../../test/support/fake-terminal.ts';
import { inVirtualTime, journeyOf, recordingClock } from '../../../test/support/recorded-journey.ts';
import { component, phase } from '../../../test/support/simple-journey.ts';
import type { Component } from '../../app/components.ts';
import type { Environment } from '../../app/config.ts';
import type { LookSettings } from './mode.ts';
import { createPresenter } from './presenter.ts';

const SETTINGS: LookSettings = { output: 'text', plain: false, ascii: false, color: true };

interface ShownOptions {
  readonly settings?: Partial<LookSettings>;
  readonly env?: Environment;
  readonly shape?: FakeTerminalOptions;
  readonly components?: readonly Component[];
}

/** The whole output of a journey that runs once. */
async function shown({
  settings,
  env = {},
  shape = { isTTY: false },
  components = demoComponents(),
}: ShownOptions): Promise<string> {
  const clock = recordingClock();
  const journey = journeyOf(components, clock);
  const terminal = fakeTerminal(shape);
  const show = createPresenter({
    settings: { ...SETTINGS, ...settings },
    env: { LANG: 'C.UTF-8', ...env },
    clock,
    terminal,
  });
  {
    using _shown = show(journey);
    await inVirtualTime(clock, journey.run(new AbortController().signal));
  }
  return terminal.output();
}

/** One phase that waits for a very long time. */
const slow: readonly Component[] = [
  {
    name: 'slow',
    phases: [
      {
        id: 'hub',
        needs: [],
        probes: [],
        run: async (context) => {
          context.waitingFor('3 of 3 nodes Ready');
          await context.clock.sleep(200_000);
          return { health: 'done', detail: '' };
        },
      },
    ],
  },
];

describe('the presenter', () => {
  it('experience/X4: writes neither escape codes nor carriage returns where there is no terminal', async () => {
    const text = await shown({});
    // oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
    assert.doesNotMatch(text, /[\u001b\r]/);
    assert.match(text, /^09:14:02\.113Z journey: start/);
    assert.match(
      text,
      /09:14:02\.513Z phase 1 hub: done in 0\.4 s \(API ready on 127\.0\.0\.1:40123 · 61 kinds\)\n/,
    );
  });

  it('experience/X4: says what is waited for after 15, 30 and 60 s, then every 60 s', async () => {
    const text = await shown({ components: slow });
    const beats = text.match(/still waiting: .*/g);
    const times = ['15.0 s', '30.0 s', '1 m 00 s', '2 m 00 s', '3 m 00 s'];
    assert.deepEqual(
      beats,
      times.map((time) => `still waiting: 3 of 3 nodes Ready (${time})`),
    );
  });

  it('experience/X5: says it every 30 s to a screen reader', async () => {
    const text = await shown({ components: slow, settings: { plain: true } });
    assert.equal(text.match(/Still waiting for 3 of 3 nodes Ready/g)?.length, 6);
  });

  it('experience/X5: has no symbols and no drawings for a screen reader', async () => {
    const text = await shown({ env: { ACCESSIBLE: '1' }, shape: { isTTY: true } });
    assert.match(text, /^[\x20-\x7e\n]*$/);
    assert.match(text, /cp-1: Writing image to disk, 33 percent\./);
    assert.doesNotMatch(text, /%|~/);
  });

  const exact: readonly Component[] = component(
    phase({
      run: async () => ({
        health: 'done',
        detail: 'data~ in /home/josé/Größe, Größe · 2→3',
        addresses: [{ label: 'log', value: '/home/josé/x…', isLasting: true }],
        tries: [{ kind: 'command', text: 'cd ~ && ls /home/josé · é', isLasting: true }],
      }),
    }),
  );

  it('experience/X5: says signs as words to a screen reader, but leaves commands and paths alone', async () => {
    const text = await shown({ components: exact, settings: { plain: true } });
    assert.match(text, /data, simulated in \/home\/josé\/Größe, Größe, 2 to 3\./);
    assert.match(text, /Address of log: \/home\/josé\/x…\n/);
    assert.match(text, /To try, 1: cd ~ && ls \/home\/josé · é\n/);
  });

  it('experience/X6: writes ASCII, but leaves commands and paths alone', async () => {
    const text = await shown({ components: exact, settings: { ascii: true } });
    assert.match(text, /data~ in \/home\/josé\/Größe, Gro\?e - 2->3/);
    assert.match(text, /-> log +\/home\/josé\/x…\n/);
    assert.match(text, /1 {2}cd ~ && ls \/home\/josé · é\n/);
  });

  it('experience/X29: offers after --once only what lasts', async () => {
    const text = await shown({ components: demoComponents() });
    assert.doesNotMatch(text, /kubectl|KUBECONFIG/);
    assert.match(text, /➜ log +\.slipway\/journey\.log\n/);
  });

  it('experience/X1: writes nothing but JSON lines with --output json', async () => {
    const text = await shown({ settings: { output: 'json' }, shape: { isTTY: true }, env: { FORCE_COLOR: '1' } });
    const events = text
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    assert.ok(events.length > 20);
  });

  it('puts phases into groups in GitHub Actions', async () => {
    const text = await shown({ env: { GITHUB_ACTIONS: 'true' }, components: demoComponents({ fails: 'cloud' }) });
    assert.equal(text.match(/^::group::phase \d/gm)?.length, 6);
    assert.equal(text.match(/^::endgroup::$/gm)?.length, 6);
    assert.deepEqual(text.match(/^::error::.*/gm), [
      '::error::phase 4 cloud: provider.instances.describe threw "401 token expired" 14 times (last 0.8 s ago, node w-0)',
    ]);
  });

  it('experience/X4: prints a percent of a row at most every 25 points', async () => {
    const creeping: Component = {
      name: 'creeping',
      phases: [
        {
          id: 'cluster',
          needs: [],
          probes: [],
          run: async (context) => {
            for (let percent = 0; percent <= 100; percent++) {
              context.row({ path: ['cp-0'], health: 'working', word: 'Writing image to disk', percent });
            }
            return { health: 'done', detail: '' };
          },
        },
      ],
    };
    const text = await shown({ components: [creeping] });
    assert.deepEqual(text.match(/\(\d+ %\)/g), ['(0 %)', '(25 %)', '(50 %)', '(75 %)', '(100 %)']);
  });

  it('is live on a terminal', async () => {
    const text = await shown({ shape: { isTTY: true } });
    assert.ok(text.startsWith('\u001b[?25l'));
    assert.ok(text.endsWith('\u001b[?25h'));
  });
});
