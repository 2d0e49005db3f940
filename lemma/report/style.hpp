// lemma/report/style.hpp: how a report looks, and the script that sorts its tables. Inner header of the room.
#pragma once
#include <string_view>

namespace lemma::reporting {

/// Colours reach 4.5 : 1 against their ground in light and dark (tests/browser measures it).
inline constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--paper:#ffffff;--ink:#1c1e21;--soft:#5c6168;--line:#d9dce1;--ground:#f5f6f8;--link:#0b5cad;
--good:#1a7f37;--warn:#9a4a00;--note:#0b5cad}
@media screen and (prefers-color-scheme:dark){:root{--paper:#181a1f;--ink:#e6e7ea;--soft:#a4a9b2;--line:#363a42;
--ground:#20232a;--link:#7db7f5;--good:#5fce82;--warn:#f0a860;--note:#7db7f5}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.page{max-width:60rem;margin:0 auto;padding:1rem 1rem 4rem}
.skip{position:absolute;left:-999px}
.skip:focus{position:static;display:inline-block;padding:.5rem;background:var(--ground)}
h1{font-size:1.8rem;line-height:1.2;margin:.8rem 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1.35rem;line-height:1.25;margin:2.6rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line)}
p{margin:.6rem 0;max-width:46rem;overflow-wrap:anywhere}
.lead{font-size:1.1rem;color:var(--soft);margin-top:0}
a{color:var(--link)}
nav ol{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:.7rem 1rem;margin:1rem 0;background:var(--ground);
border-radius:8px}
code{font:.9em/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;background:var(--ground);
padding:.1em .3em;border-radius:4px}
pre{background:var(--ground);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;overflow-x:auto;font-size:.85rem}
pre code{background:none;padding:0}
.sheet{overflow-x:auto;margin:1rem 0;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.6rem .8rem;background:var(--ground)}
th,td{text-align:left;padding:.35rem .8rem;border-top:1px solid var(--line);vertical-align:top}
th.n,td.n{text-align:right;white-space:nowrap}
tbody th code{white-space:nowrap}
td:last-child:not(.n){min-width:13rem}
tbody th{font-weight:500}
thead th{font-weight:600;white-space:nowrap;color:var(--soft)}
thead button{font:inherit;color:inherit;background:none;border:0;padding:.2rem 0;cursor:pointer;text-align:inherit}
thead button:hover,thead button:focus-visible{color:var(--link);text-decoration:underline}
th[aria-sort=ascending] button::after{content:' \2191'}
th[aria-sort=descending] button::after{content:' \2193'}
figure{margin:1.2rem 0}
.drawn{overflow-x:auto;border:1px solid var(--line);border-radius:8px}
.drawn svg{display:block;max-width:100%;height:auto;margin:0 auto}
figcaption{color:var(--soft);font-size:.92rem;margin-top:.4rem;overflow-wrap:anywhere}
.notice{border-left:4px solid var(--note);background:var(--ground);padding:.5rem 1rem;margin:.8rem 0;border-radius:0 8px 8px 0}
.notice p{margin:.2rem 0}
.notice b{color:var(--note)}
.notice.good{border-color:var(--good)}.notice.good b{color:var(--good)}
.notice.warning{border-color:var(--warn)}.notice.warning b{color:var(--warn)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
@media (max-width:640px){.drawn svg{min-width:var(--least)}}
@media print{.page{max-width:none;padding:0}nav,.skip{display:none}a{color:inherit;text-decoration:none}
figure,.notice,tr{break-inside:avoid}h2{break-after:avoid}pre{white-space:pre-wrap;overflow-wrap:anywhere}
.sheet,.drawn{overflow:visible}.drawn svg{min-width:0;max-width:100%;height:auto}}
)";

/// Headers become buttons; cells sort by data-v, the number they stand for, or by their words.
inline constexpr std::string_view kScript = R"JS(
for (const table of document.querySelectorAll('table.sorts')) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent.trim();
      const order = (a, b) => {
        const x = key(a), y = key(b), n = Number(x) - Number(y);
        return Number.isNaN(n) || x === '' || y === '' ? x.localeCompare(y) : n;
      };
      const rows = [...body.rows].sort(order);
      if (down) rows.reverse();
      body.append(...rows);
    });
  });
}
)JS";

}  // namespace lemma::reporting
