// What runs in containers of the tests of people: the first argument says what it does.
import { createServer } from 'node:http';

/** Serves HTTP, counts in its log, and crashes when asked to. */
function serve(): void {
  let lines = 0;
  setInterval(() => process.stdout.write(`line ${++lines}\n`), 100);
  createServer((request, response) => {
    if (request.url === '/crash') process.stdout.write('crashing as asked\n', () => process.exit(3));
    else response.end(`${process.env['HOSTNAME']} of ${process.env['VERSION'] ?? 'v1'}`);
  }).listen(18_418, () => process.stdout.write('listening\n'));
  process.on('SIGTERM', () => process.exit(0));
}

/** Three lines, and done. */
async function count(): Promise<void> {
  for (const line of ['one', 'two', 'three']) {
    process.stdout.write(`${line}\n`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Asks each URL once. */
async function ask(urls: readonly string[]): Promise<void> {
  for (const url of urls) process.stdout.write(`${url} ${await (await fetch(url)).text()}\n`);
}

const [work = 'serve', ...rest] = process.argv.slice(2);
if (work === 'serve') serve();
else if (work === 'count') await count();
else if (work === 'ask') await ask(rest);
else throw new Error(`nobody knows how to ${work}`);
