import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ChildTools, inChild } from '../../../test/support/preload-child.ts';

/** The container sees these; nothing of the kind is on this machine. */
const CONFIG = '/etc/slipway-preload-test';
const DATA = '/slipway-preload-test/data';

describe('preload with mounts', () => {
  let directory: string;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'slipway-preload-')));
    const at = (...parts: readonly string[]) => join(directory, ...parts);
    // As the node lays it out: the mounts are links to the volumes, and a config volume has links of its own.
    await mkdir(at('volumes/config/..1'), { recursive: true });
    await mkdir(at('volumes/data/inner'), { recursive: true });
    await mkdir(at('mounts'));
    await writeFile(at('volumes/config/..1/app.yaml'), 'a: 1\n');
    await symlink('..1', at('volumes/config/..data'));
    await symlink('..data/app.yaml', at('volumes/config/app.yaml'));
    await symlink(at('volumes/config'), at('mounts/config'));
    await symlink(at('volumes/data'), at('mounts/data'));
    const mounts = [
      { mountPath: DATA, source: at('mounts/data') },
      { mountPath: CONFIG, source: at('mounts/config') },
      { mountPath: '/tmp', source: at('volumes/data/inner') },
      { mountPath: directory, source: directory },
    ];
    env = { SLIPWAY_MOUNTS: JSON.stringify(mounts) };
  });

  after(() => rm(directory, { recursive: true }));

  it('lab/P8: files are read at the paths of the container, by every kind of function and of path', async () => {
    const program = async ({ fs, text, promisify }: ChildTools, { config }: { readonly config: string }) => {
      const { createRequire } = await import('node:module');
      const promises = await import('node:fs/promises');
      const { URL: NodeUrl, pathToFileURL } = await import('node:url');
      const required: typeof fs = createRequire('/')('fs');
      const file = `${config}/app.yaml`;
      const open = await promises.open(file);
      const descriptor = fs.openSync(file, 'r');
      const found: string[] = [];
      let walked = 0;
      for await (const entry of await promises.opendir(config)) walked += entry.name === '' ? 0 : 1;
      for await (const path of promises.glob(`${config}/*.yaml`)) found.push(path);
      return {
        texts: [
          fs.readFileSync(file, 'utf8'),
          fs.readFileSync(file).toString(),
          required.readFileSync(Buffer.from(file), 'utf8'),
          fs.readFileSync(pathToFileURL(file), 'utf8'),
          fs.readFileSync(new NodeUrl(`file://${file}`), 'utf8'),
          fs.readFileSync(descriptor, 'utf8'),
          await promises.readFile(file, 'utf8'),
          await promises.readFile(`${config}/../${config.slice(5)}//app.yaml`, 'utf8'),
          await fs.promises.readFile(pathToFileURL(file), 'utf8'),
          await open.readFile('utf8'),
          await text(fs.createReadStream(file)),
          await promisify(fs.readFile)(file, 'utf8'),
          await (await fs.openAsBlob(file)).text(),
          await new Promise((resolve) => fs.readFile(file, 'utf8', (_, content) => resolve(content))),
        ],
        exists: [
          fs.existsSync(file),
          await new Promise((resolve) => fs.exists(file, resolve)),
          await promisify(fs.exists)(file),
          fs.statSync(file).isFile(),
          fs.lstatSync(file).isSymbolicLink(),
          (await promises.stat(config)).isDirectory(),
          fs.accessSync(file) === undefined,
          (await promises.statfs(config)).bsize > 0,
        ],
        entries: [fs.readdirSync(config).length, (await promises.readdir(config)).length],
        parents: fs.readdirSync(config, { withFileTypes: true }).map(({ parentPath }) => parentPath),
        walked,
        found,
        streamed: fs.createReadStream(file).path,
      };
    };
    const facts = await inChild(program, { config: CONFIG }, env);
    assert.deepEqual(new Set(facts.texts), new Set(['a: 1\n']));
    assert.deepEqual(new Set(facts.exists), new Set([true]));
    assert.deepEqual(facts.entries, [3, 3]);
    assert.deepEqual(facts.parents, [CONFIG, CONFIG, CONFIG]);
    assert.equal(facts.walked, 3);
    assert.deepEqual(facts.found, [`${CONFIG}/app.yaml`]);
    assert.equal(facts.streamed, `${CONFIG}/app.yaml`);
  });

  it('lab/P8: files are written, renamed, linked and removed at the paths of the container', async () => {
    const program = async ({ fs, once }: ChildTools, { data }: { readonly data: string }) => {
      const promises = await import('node:fs/promises');
      fs.writeFileSync(`${data}/a`, '1');
      await promises.appendFile(`${data}/a`, '2');
      await once(fs.createWriteStream(`${data}/b`).end('stream'), 'finish');
      await new Promise((resolve) => fs.mkdir(`${data}/deep/er`, { recursive: true }, resolve));
      await promises.rename(`${data}/a`, `${data}/deep/a`);
      fs.copyFileSync(`${data}/deep/a`, `${data}/deep/copy`);
      fs.cpSync(`${data}/deep`, `${data}/copied`, { recursive: true });
      fs.symlinkSync(`${data}/deep/a`, `${data}/link`);
      await promises.link(`${data}/deep/a`, `${data}/hard`);
      await promises.utimes(`${data}/deep/a`, 1, 1);
      fs.chmodSync(`${data}/deep/a`, 0o600);
      fs.truncateSync(`${data}/deep/copy`, 1);
      const watched = once(fs.watch(data), 'change');
      const polled = new Promise((resolve) => {
        const listener = () => {
          fs.unwatchFile(`${data}/deep/copy`, listener);
          resolve(watcher.listenerCount('change'));
        };
        const watcher = fs.watchFile(`${data}/deep/copy`, { interval: 5 }, listener);
      });
      fs.writeFileSync(`${data}/c`, '');
      // The first look may come after any number of writes, and only the second one sees a change.
      const writing = setInterval(() => fs.appendFileSync(`${data}/deep/copy`, 'longer'), 20);
      void polled.then(() => clearInterval(writing));
      const [, name] = await watched;
      await promises.rm(`${data}/c`);
      return {
        name,
        polled: await polled,
        link: fs.readlinkSync(`${data}/link`),
        linked: fs.readFileSync(`${data}/link`, 'utf8'),
        time: fs.statSync(`${data}/deep/a`).mtimeMs,
      };
    };
    const facts = await inChild(program, { data: DATA }, env);
    assert.deepEqual(facts, {
      name: facts.name,
      polled: 0,
      link: `${DATA}/deep/a`,
      linked: '12',
      time: 1000,
    });
    assert.match(String(facts.name), /^\w+$/);
    const data = join(directory, 'volumes/data');
    assert.deepEqual((await readdir(data)).toSorted(), ['b', 'copied', 'deep', 'hard', 'inner', 'link']);
    assert.equal(await readFile(join(data, 'b'), 'utf8'), 'stream');
    assert.equal(await readFile(join(data, 'copied/a'), 'utf8'), '12');
    // What runs beside the program follows the link as well.
    assert.equal(await readFile(join(data, 'link'), 'utf8'), '12');
  });

  it('lab/P8: paths that come back are those of the container, in errors too', async () => {
    const program = async (
      { fs, promisify }: ChildTools,
      given: { config: string; data: string; place: string },
    ) => {
      const { config, data, place } = given;
      const promises = await import('node:fs/promises');
      const file = `${config}/app.yaml`;
      const told = (error: unknown) => {
        const { path, message, stack } = Object(error);
        return [path, message, String(stack).split('\n')[0]];
      };
      const thrown = () => {
        try {
          return fs.readFileSync(`${config}/none`);
        } catch (error) {
          return told(error);
        }
      };
      const made = fs.mkdtempSync(`${data}/x-`);
      fs.writeFileSync(`${data}/path`, place);
      return {
        content: fs.readFileSync(`${data}/path`, 'utf8') === place,
        real: [
          fs.realpathSync(file),
          fs.realpathSync.native(file),
          await promises.realpath(file),
          await promisify(fs.realpath)(file),
          await promisify(fs.realpath.native)(file),
        ],
        link: await promises.readlink(file),
        made: made.startsWith(`${data}/x-`) && fs.readdirSync(data).includes(made.slice(data.length + 1)),
        first: fs.mkdirSync(`${data}/p/q/r`, { recursive: true }),
        thrown: thrown(),
        rejected: await promises.readFile(`${config}/none`).catch(told),
        called: await new Promise((resolve) => fs.open(`${config}/none`, (error) => resolve(told(error)))),
        copied: await promises.copyFile(file, `${data}/no/such`).catch((error) => error.dest),
      };
    };
    const text = `ENOENT: no such file or directory, open '${CONFIG}/none'`;
    const error = [`${CONFIG}/none`, text, `Error: ${text}`];
    const place = join(directory, 'volumes/data/x');
    assert.deepEqual(await inChild(program, { config: CONFIG, data: DATA, place }, env), {
      content: true,
      real: Array.from({ length: 5 }, () => `${CONFIG}/..1/app.yaml`),
      link: '..data/app.yaml',
      made: true,
      first: `${DATA}/p`,
      thrown: error,
      rejected: error,
      called: error,
      copied: `${DATA}/no/such`,
    });
  });

  it('lab/P8: everything else is where it says, even inside a mount around the lab', async () => {
    const program = async ({ fs }: ChildTools, { own }: { readonly own: string }) => {
      fs.writeFileSync('/tmp/in-the-volume', 'x');
      const isRange = (error: unknown) => Object(error).code === 'ERR_INVALID_ARG_TYPE';
      const wrong = [undefined, 7.5, {}, null].map((bad) => {
        try {
          return fs.readFileSync(bad as unknown as string);
        } catch (error) {
          return isRange(error) || Object(error).code === 'ERR_OUT_OF_RANGE';
        }
      });
      return {
        own: fs.readFileSync(own, 'utf8'),
        real: fs.realpathSync(own) === own,
        root: fs.realpathSync('/'),
        cwd: fs.existsSync('.'),
        names: [fs.readFileSync.name, fs.readFileSync.length, fs.promises.readFile.name],
        wrong,
      };
    };
    const facts = await inChild(program, { own: join(directory, 'volumes/config/..1/app.yaml') }, env);
    assert.deepEqual(facts, {
      own: 'a: 1\n',
      real: true,
      root: '/',
      cwd: true,
      names: ['readFileSync', 2, 'readFile'],
      wrong: [true, true, true, true],
    });
    assert.equal(await readFile(join(directory, 'volumes/data/inner/in-the-volume'), 'utf8'), 'x');
  });
});
