// As much of a browser as a report's page needs: prints the title and what its script puts into `main`. The page is on standard input.
'use strict'
const page = require('node:fs').readFileSync(0, 'utf8')
const [, data] = /<script id="data" type="application\/json">([^]*?)<\/script>/.exec(page)
const [, script] = /<script>([^]*?)<\/script>/.exec(page)
const main = {}
const document = { querySelector: name => (name === 'main' ? main : { textContent: data }) }
new Function('document', script)(document)
console.log(document.title + main.innerHTML)
