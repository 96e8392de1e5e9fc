package choose

// kinds: Windows has none.
func kinds() []kind { return nil }
