import { Session } from 'node:inspector/promises';
import type { Clock } from '../../base/clock.ts';
import type { Serve, ServedRequest, ServedResponse } from '../../kube/serving/https-listener.ts';

/** Where Go programs serve their profiles. */
export const PROFILES_PATH = '/debug/pprof/';
const LONGEST_SECONDS = 300;
const USUAL_SECONDS = 30;

const INDEX = `Profiles of this process, in the formats of V8: open them in the developer tools of Chromium, or in an editor.

profile?seconds=30   processor time, .cpuprofile
heap?seconds=30      where memory was allocated and is still used, .heapprofile
`;

const MISSING = `This profile is one of the Go runtime; this program runs on Node.js. There are profile and heap.\n`;

/** Serves real profiles of this process below `/debug/pprof/`. Who asks may read whatever the process knows. */
export function serveProfiles(clock: Clock): Serve {
  let isBusy = false;
  return async (request) => {
    const name = request.path.slice(PROFILES_PATH.length);
    if (name === '') return { status: 200, body: INDEX };
    const take = TAKERS.get(name);
    if (take === undefined) return { status: 404, body: MISSING };
    const seconds = Number(request.query.get('seconds') ?? USUAL_SECONDS);
    if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) {
      return { status: 400, body: `seconds must be a number up to ${LONGEST_SECONDS}\n` };
    }
    if (isBusy) return { status: 503, body: 'another profile is being taken\n' };
    isBusy = true;
    try {
      return profile(await take(clock, seconds * 1000, request));
    } finally {
      isBusy = false;
    }
  };
}

type Taker = (clock: Clock, ms: number, request: Pick<ServedRequest, 'signal'>) => Promise<unknown>;

const TAKERS: ReadonlyMap<string, Taker> = new Map<string, Taker>([
  [
    'profile',
    (clock, ms, { signal }) =>
      withSession(async (session) => {
        await session.post('Profiler.enable');
        await session.post('Profiler.start');
        await clock.sleep(ms, signal);
        return (await session.post('Profiler.stop')).profile;
      }),
  ],
  [
    'heap',
    (clock, ms, { signal }) =>
      withSession(async (session) => {
        await session.post('HeapProfiler.startSampling');
        await clock.sleep(ms, signal);
        return (await session.post('HeapProfiler.stopSampling')).profile;
      }),
  ],
]);

async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    session.disconnect();
  }
}

const profile = (content: unknown): ServedResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(content),
});
