//! Several people who act on the same money at the same moment (docs/till.md).

use futures_util::future::{join, join3};
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::json;

use crate::support::helpers::Setup;
use crate::support::shop::{PRICE, Shop, buy};

/// Two tills reverse a top-up while its customer pays with it. Only one of them gets the balance, and the cash leaves the drawer only
/// with a reversal.
#[actix_web::test]
async fn two_reversals_and_a_purchase_at_once_move_the_balance_once() {
    let app = Setup::new().running_clock().start().await;
    let shop = app.shop(1_800).await;
    let (rina, dewi) = (app.seller(shop.outlet).await, app.seller(shop.outlet).await);
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(shop.outlet.idoutlet)).await;
    let there = app.at(&dewi.till, hadi.person).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let idcustomer = app.epay(&siti, shop.outlet, None).await.idcustomer;
    let sale = json!({ "id_customer_global": siti.id, "idoutlet": shop.outlet.idoutlet, "nominal": PRICE, "ulang": true });
    let (mut bought, mut sold) = (0, 0);
    for n in 1..=12 {
        let made = app.ask(&rina, "topup", &sale).await.ok();
        sold += 1;
        let reversal = format!("topup/{}/batal", made["idpembelian_emoney"].as_str().unwrap());
        let why = json!({ "alasan": "salah orang" });
        let machine = app.machine(shop.outlet, &format!("Mesin {n}")).await;
        let order = buy(n, Shop { idmesin: machine.idmesin, ..shop }, idcustomer);
        let (here, elsewhere, purchase) =
            join3(app.ask(&hadi, &reversal, &why), app.ask(&there, &reversal, &why), app.buy(&siti, &order)).await;
        let reversed = [&here, &elsewhere].iter().filter(|answer| answer.status == 200).count();
        let outcome = format!("{here:?} {elsewhere:?} {purchase:?}");
        assert_eq!(reversed + usize::from(purchase.status == 200), 1, "{outcome}");
        assert_eq!(app.balance(idcustomer).await, 0, "{outcome}");
        bought += i64::from(purchase.status == 200);
    }
    let drawers = join(app.see(&hadi, "shift"), app.see(&there, "shift")).await;
    let expected = drawers.0.ok()["diharapkan"].as_i64().unwrap() + drawers.1.ok()["diharapkan"].as_i64().unwrap();
    assert_eq!(expected, 200_000 + bought * PRICE, "of {sold} sold");
    app.assert_no_violation().await;
}
