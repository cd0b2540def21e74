// Plain Express: one route per payload, with the JSON of the service.
import express from 'express';

const app = express();
process.on('message', ({ path, data }) => {
  app.get(path, (_request, response) => response.json(data));
  process.send('added');
});
const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port));
