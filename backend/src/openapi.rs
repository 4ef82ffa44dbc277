//! The OpenAPI document, made from the handlers' annotations; `backend/openapi.json` is its snapshot.

use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(info(title = "Nyala", description = "Self-service laundry machines paid from prepaid balances"), paths(), components())]
pub struct ApiDoc;
