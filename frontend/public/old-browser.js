// Says in one sentence that this browser is too old, and is written for the oldest: no modern syntax, nothing that one may lack.
(function () {
  function tell() {
    var sentence = document.getElementById('old-browser')
    var root = document.getElementById('root')
    if (sentence && !(root && root.firstChild)) sentence.removeAttribute('hidden')
  }
  // What the app is built upon; the oldest browsers of vite.common.ts have all of it.
  var fine =
    window.Promise &&
    Promise.any &&
    window.fetch &&
    window.Symbol &&
    window.WeakRef &&
    window.ResizeObserver &&
    ''.replaceAll &&
    [].flatMap &&
    Object.fromEntries &&
    document.documentElement.replaceChildren &&
    'noModule' in document.createElement('script')
  if (!fine) tell()
  // Syntax that it does not know, or a function that is not there: nothing was drawn. An extension's error says nothing of the app.
  else if (window.addEventListener) {
    window.addEventListener('error', function (event) {
      if (event.message && String(event.filename).indexOf(location.origin) === 0) tell()
    })
  }
})()
