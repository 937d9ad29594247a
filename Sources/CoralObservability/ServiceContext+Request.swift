#if Observability
    import ServiceContextModule

    extension ServiceContext {
        private enum RequestKey: ServiceContextKey {
            typealias Value = String
        }

        /// The name of the request with which slow statements are logged, such as a path and an identifier.
        ///
        ///     var context = ServiceContext.current ?? .topLevel
        ///     context.storeRequest = "GET /notes"
        ///     try await ServiceContext.withValue(context) { try await pool.withContext { … } }
        public var storeRequest: String? {
            get { self[RequestKey.self] }
            set { self[RequestKey.self] = newValue }
        }
    }
#endif
