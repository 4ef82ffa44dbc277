// A device on npm's mqtt; drive.py controls it like a real device.
import mqtt from 'mqtt'

const [host, port, username, password, prefix, qosText] = process.argv.slice(2)
const qos = Number(qosText)
const device = { conn: 0, seq: 0, epoch: 0, run: null, last: null }
const client = mqtt.connect({
  host,
  port: Number(port),
  username,
  password,
  keepalive: 5,
  reconnectPeriod: 500,
  resubscribe: false,
  queueQoSZero: false,
  will: { topic: `${prefix}/state`, payload: JSON.stringify({ online: false, boot_id: 7 }), qos: 1, retain: true },
})

function say(topic, word) {
  device.seq += 1
  const stamp = { boot_id: 7, conn: device.conn, seq: device.seq, up_ms: Math.round(performance.now()) }
  client.publish(`${prefix}/${topic}`, JSON.stringify({ ...stamp, ...word }), { qos, retain: topic === 'state' })
}

function sayState() {
  const { epoch, run, last } = device
  say('state', { online: true, epoch, run, last })
}

client.on('connect', () => {
  device.conn += 1
  client.subscribe(`${prefix}/cmd`, { qos }, (error, granted) => {
    if (error || granted[0].qos > 1) throw error ?? new Error('not granted')
    sayState()
    console.log('online')
  })
})
client.on('error', (error) => {
  if (error.code !== 4) throw error
  console.log('refused')
  process.exit()
})
client.on('message', (topic, payload, packet) => {
  if (topic !== `${prefix}/cmd` || packet.retain) throw new Error(topic)
  const cmd = JSON.parse(payload.toString())
  device.epoch = Math.max(device.epoch, cmd.epoch)
  const known = device.last?.cmd_id === cmd.cmd_id
  if (cmd.op === 'start' && !known) {
    device.run = { cmd_id: cmd.cmd_id, sisa_s: cmd.durasi_s }
    device.last = { cmd_id: cmd.cmd_id, result: 'started' }
  } else if (cmd.op === 'stop' && known) {
    device.run = null
    device.last.result = 'done'
  }
  sayState()
  if (device.last?.cmd_id === cmd.cmd_id) say('ack', { epoch: cmd.epoch, ...device.last })
})
