//! A database that cannot write: each purchase gets 503, and the log reports it without being flooded.

use super::Site;

const PRESSES: usize = 200;

#[actix_web::test]
async fn the_same_trouble_is_logged_once_and_counted_at_the_end() {
    const FULL: &str = "
        CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
        END $$;
        CREATE TRIGGER no_room BEFORE INSERT ON nota EXECUTE FUNCTION no_room();";
    let mut site = Site::new().await;
    let free = ("NYALA__PURCHASE__PER_CUSTOMER_MINUTE", "1000000");
    site.start_with(&[free, ("NYALA__LOG__FILTER", "warn")]).await;
    let shop = site.shop(60).await;
    site.db.batch_execute(FULL).await.unwrap();
    for _ in 0..PRESSES {
        site.buy(&shop).await.unwrap().expect(503, "layanan sedang sibuk, coba lagi");
    }
    let lines = |what: &str| site.log().lines().filter(|line| line.contains(what)).count();
    assert_eq!(lines("No space left on device"), 1, "{}", site.log());
    assert_eq!(lines("a hold was not confirmed"), 1, "{}", site.log());
    site.signal(nix::sys::signal::Signal::SIGTERM);
    assert!(site.ended().await.success());
    let kept_back = site.log().lines().filter(|line| line.contains("said again")).map(str::to_owned).collect::<Vec<_>>();
    let times = format!("times={}", PRESSES - 1);
    assert!(kept_back.iter().any(|line| line.contains("No space left") && line.contains(&times)), "{kept_back:?}");
}
