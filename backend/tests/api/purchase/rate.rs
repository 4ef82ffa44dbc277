//! How many purchases a customer may ask for in a minute (docs/contract.md §7).

use futures_util::future::join_all;

use crate::support::helpers::Setup;
use crate::support::shop::buy;

const LOW: &str = "saldo epay tidak cukup";
const COUNT: &str = "SELECT count(*) FROM nota";

#[actix_web::test]
async fn the_sixty_first_in_a_minute_waits_and_leaves_no_row() {
    let app = Setup::new().start().await;
    let (shop, siti, epay) = app.shop_and_payer(1).await;
    for n in 0..60 {
        app.buy(&siti, &buy(n, shop, epay)).await.expect(422, LOW);
    }
    for n in 60..70 {
        assert_eq!(app.buy(&siti, &buy(n, shop, epay)).await.retry_after_s(), 60);
    }
    assert_eq!(app.insert(COUNT, &[]).await, 60);
    app.buy(&siti, &buy(7, shop, epay)).await.expect(422, LOW);
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    let other = app.balance_of(&budi, shop, 1).await;
    app.buy(&budi, &buy(60, shop, other)).await.expect(422, LOW);
    app.advance_s(59);
    assert_eq!(app.buy(&siti, &buy(60, shop, epay)).await.retry_after_s(), 1);
    app.advance_s(1);
    app.buy(&siti, &buy(60, shop, epay)).await.expect(422, LOW);
}

#[actix_web::test]
async fn repeats_of_a_receipt_do_not_count() {
    let app = Setup::new().with(|c| c.purchase.per_customer_minute = 2).start().await;
    let (shop, siti, epay) = app.shop_and_payer(1).await;
    let mut other_body = buy(1, shop, epay);
    for n in 1..=2 {
        let order = buy(n, shop, epay);
        for answer in join_all((0..20).map(|_| app.buy(&siti, &order))).await {
            answer.expect(422, LOW);
        }
    }
    assert_eq!(app.buy(&siti, &buy(3, shop, epay)).await.retry_after_s(), 60);
    other_body.body["total"] = 1.into();
    app.buy(&siti, &other_body).await.expect(422, "nomor nota sudah dipakai");
    app.advance_s(60);
    app.buy(&siti, &buy(3, shop, epay)).await.expect(422, LOW);
}
