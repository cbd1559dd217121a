// What runs in containers of tests: serves HTTP, counts in its log, and crashes when asked to.
import { createServer } from 'node:http';

let lines = 0;
setInterval(() => process.stdout.write(`line ${++lines}\n`), 200);

createServer((request, response) => {
  if (request.url === '/crash') {
    process.stdout.write('crashing as asked\n', () => process.exit(3));
    return;
  }
  response.end(process.env['HOSTNAME']);
}).listen(8080, () => process.stdout.write('listening\n'));

process.on('SIGTERM', () => process.exit(0));
