// Shows one sentence when this browser is too old. It is written for the oldest browsers: no modern syntax, no function that one may
// lack.
(function () {
  function tell() {
    var sentence = document.getElementById('old-browser')
    var root = document.getElementById('root')
    if (sentence && !(root && root.firstChild)) sentence.removeAttribute('hidden')
  }
  // The functions that the app needs; the oldest browsers of vite.common.ts have all of them.
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
  // Unknown syntax or a missing function: nothing was drawn. An extension's error says nothing about the app.
  else if (window.addEventListener) {
    window.addEventListener('error', function (event) {
      if (event.message && String(event.filename).indexOf(location.origin) === 0) tell()
    })
  }
})()
